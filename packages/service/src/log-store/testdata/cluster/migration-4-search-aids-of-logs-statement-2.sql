ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (ADD INDEX IF NOT EXISTS by_word lower(body) TYPE tokenbf_v1(16384, 4, 0) GRANULARITY 1)
