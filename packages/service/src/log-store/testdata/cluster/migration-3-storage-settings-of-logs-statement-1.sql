ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MODIFY SETTING replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, min_bytes_for_wide_part = 268435456, max_compress_block_size = 131072, fsync_after_insert = 1, fsync_part_directory = 1)
