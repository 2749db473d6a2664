CREATE TABLE IF NOT EXISTS obsiac.metric_metadata_stored ON CLUSTER main
(
    `org` LowCardinality(String) CODEC(ZSTD(1)),
    `name` String CODEC(ZSTD(1)),
    `type` LowCardinality(String) CODEC(ZSTD(1)),
    `help` String CODEC(ZSTD(1)),
    `unit` LowCardinality(String) CODEC(ZSTD(1)),
    `version` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/obsiac/metric_metadata_stored', '{replica}', version)
PARTITION BY tuple()
ORDER BY (org, name)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1
