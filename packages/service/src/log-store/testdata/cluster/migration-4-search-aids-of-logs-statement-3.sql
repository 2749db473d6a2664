ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MATERIALIZE PROJECTION by_minute)
