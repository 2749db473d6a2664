CREATE TABLE IF NOT EXISTS obsiac.metric_series_stored ON CLUSTER main
(
    `org` LowCardinality(String) CODEC(ZSTD(1)),
    `day` Date CODEC(ZSTD(1)),
    `name` LowCardinality(String) CODEC(ZSTD(1)),
    `id` UInt128 CODEC(ZSTD(1)),
    `names` Array(LowCardinality(String)) CODEC(ZSTD(1)),
    `values` Array(String) CODEC(ZSTD(1)),
    `version` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/obsiac/metric_series_stored', '{replica}', version)
PARTITION BY day
ORDER BY (org, name, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1
