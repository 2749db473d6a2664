ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MODIFY COLUMN `timestamp` CODEC(T64, LZ4))
