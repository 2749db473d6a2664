ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (MATERIALIZE PROJECTION by_minute)
SETTINGS mutations_sync = 0, alter_sync = 0
