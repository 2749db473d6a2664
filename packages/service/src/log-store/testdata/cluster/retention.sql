ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (DROP PARTITION ID '9c55f7b9b1fea4d1e4ab9d5ef14fd33f')
