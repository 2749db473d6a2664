ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MODIFY COLUMN `raw` MODIFY SETTING max_compress_block_size = 1048576)
