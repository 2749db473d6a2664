SELECT
    partition_id AS id,
    any(partition) AS key,
    toString(sum(rows)) AS rows
FROM clusterAllReplicas('main', system.parts)
WHERE active AND (database = {database:String}) AND (`table` = {table:String})
GROUP BY id
ORDER BY id ASC
