INSERT INTO obsiac.logs (org, dataset, timestamp, observed_timestamp, stored, id, severity_number, severity_text, service, body, raw, RayID, EdgeResponseStatus, SecurityAction) SELECT
    'org',
    'http_requests',
    fromUnixTimestamp64Nano(coalesce(multiIf(f.EdgeStartTimestamp = '', NULL, match(f.EdgeStartTimestamp, '^-?[0-9]+$'), multiIf(toInt64OrZero(f.EdgeStartTimestamp) <= 0, NULL, toInt64OrZero(f.EdgeStartTimestamp) <= 4102444800, toInt64OrZero(f.EdgeStartTimestamp) * 1000000000, toInt64OrZero(f.EdgeStartTimestamp) < 100000000000, NULL, toInt64OrZero(f.EdgeStartTimestamp) <= 4102444800000, toInt64OrZero(f.EdgeStartTimestamp) * 1000000, toInt64OrZero(f.EdgeStartTimestamp) < 100000000000000, NULL, toInt64OrZero(f.EdgeStartTimestamp) <= 4102444800000000, toInt64OrZero(f.EdgeStartTimestamp) * 1000, toInt64OrZero(f.EdgeStartTimestamp) < 100000000000000000, NULL, toInt64OrZero(f.EdgeStartTimestamp) <= 4102444800000000000, toInt64OrZero(f.EdgeStartTimestamp) * 1, NULL), if((toUnixTimestamp64Nano(parseDateTime64BestEffortOrNull(f.EdgeStartTimestamp, 9, 'UTC')) >= 1) AND (toUnixTimestamp64Nano(parseDateTime64BestEffortOrNull(f.EdgeStartTimestamp, 9, 'UTC')) <= 4102444800000000000), toUnixTimestamp64Nano(parseDateTime64BestEffortOrNull(f.EdgeStartTimestamp, 9, 'UTC')), NULL)), toInt64(1700000000123456789)), 'UTC'),
    fromUnixTimestamp64Nano(toInt64(1700000000123456789), 'UTC'),
    fromUnixTimestamp64Nano(toInt64(1700000000123456790), 'UTC'),
    xxHash64('http_requests', line),
    multiIf(ifNull(f.EdgeResponseStatus, 0) >= 500, 17, ifNull(f.EdgeResponseStatus, 0) >= 400, 13, 9),
    multiIf(ifNull(f.EdgeResponseStatus, 0) >= 500, 'ERROR', ifNull(f.EdgeResponseStatus, 0) >= 400, 'WARN', 'INFO'),
    '',
    trimLeft(concat(ifNull(toString(f.EdgeResponseStatus), ''), if(f.RayID = '', '', concat(' ', f.RayID)))),
    line,
    f.RayID,
    f.EdgeResponseStatus,
    f.WAFAction
FROM
(
    SELECT
        line,
        JSONExtract(line, 'Tuple(`EdgeStartTimestamp` String, `RayID` String, `EdgeResponseStatus` Nullable(Int64), `WAFAction` String)') AS f
    FROM input('line String')
    WHERE line != ''
)
