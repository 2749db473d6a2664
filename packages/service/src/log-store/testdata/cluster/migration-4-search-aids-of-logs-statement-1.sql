ALTER TABLE obsiac.logs_stored ON CLUSTER main
    (ADD PROJECTION IF NOT EXISTS by_minute
    (
        SELECT
            org,
            intDiv(toUnixTimestamp64Nano(timestamp), 60000000000) AS minute,
            dataset,
            severity_number,
            severity_text,
            EdgeResponseStatus,
            count()
        GROUP BY
            org,
            minute,
            dataset,
            severity_number,
            severity_text,
            EdgeResponseStatus
    ))
