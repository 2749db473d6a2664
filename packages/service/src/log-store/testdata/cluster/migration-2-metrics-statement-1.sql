CREATE TABLE IF NOT EXISTS obsiac.metric_samples_stored ON CLUSTER main
(
    `org` LowCardinality(String) CODEC(ZSTD(1)),
    `id` UInt128 CODEC(ZSTD(1)),
    `time` DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    `value` Float64 CODEC(Gorilla, ZSTD(1)),
    `stale` UInt8 CODEC(ZSTD(1)),
    `version` UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/obsiac/metric_samples_stored', '{replica}', version)
PARTITION BY toDate(time)
ORDER BY (org, id, time)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1
