CREATE TABLE IF NOT EXISTS obsiac.schema_versions ON CLUSTER main
(
    `version` UInt32,
    `name` String,
    `applied` DateTime
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/obsiac/schema_versions', '{replica}')
ORDER BY version
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
