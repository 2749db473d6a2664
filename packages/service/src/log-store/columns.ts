/** The columns of the log table that hold fields of Cloudflare's datasets. A list that grows only together with a migration. */

/**
 * How a field is kept.
 * - `keyword`: text of few distinct values; `text`: any text. Empty is absent.
 * - `integer` (64 bit), `float`, `boolean`: null is absent.
 * - `time`: nanoseconds since the Unix epoch, null is absent.
 * - `list`: texts of an array's elements; an object in it as its JSON text.
 */
export type ColumnKind = 'keyword' | 'text' | 'integer' | 'float' | 'boolean' | 'time' | 'list';

const NAMES: Readonly<Record<ColumnKind, string>> = {
  keyword: `
    Action BotScoreSrc CacheCacheStatus ClientASNDescription ClientCity ClientCountry ClientDeviceType
    ClientIPClass ClientMTLSAuthStatus ClientRefererHost ClientRefererScheme ClientRegionCode ClientRequestHost
    ClientRequestMethod ClientRequestProtocol ClientRequestScheme ClientRequestSource ClientRequestUserAgent
    ClientSSLCipher ClientSSLProtocol ClientXRequestedWith ColoCode Description DispatchNamespace EdgeColoCode
    EdgePathingOp EdgePathingSrc EdgePathingStatus EdgeRateLimitAction EdgeRequestHost EdgeResponseContentType
    Entrypoint EventType FraudAttack FraudEmailRisk JSDetectionPassed Kind LeakedCredentialCheckResult OriginIP
    OriginSSLProtocol Outcome PayPerCrawlStatus RuleID ScriptName SecurityAction SecurityLevel
    SecurityRuleDescription SecurityRuleID Source VerifiedBotCategory WAFFlags WAFProfile WebAssetsOperationID
    WorkerScriptName WorkerStatus ZoneName`,
  text: `
    ClientIP ClientLatitude ClientLongitude ClientMTLSAuthCertFingerprint ClientRefererPath ClientRefererQuery
    ClientRequestPath ClientRequestQuery ClientRequestReferer ClientRequestURI EDNSSubnet EdgeServerIP FraudUserID
    JA3Hash JA4 OriginResponseHTTPExpires OriginResponseHTTPLastModified OriginatorRayID ParentRayID QueryName
    RayID Ref SourceIP WAFMatchedVar`,
  integer: `
    AISecurityInjectionScore AISecurityTokenCount BotScore CPUTimeMs CacheResponseBytes CacheResponseStatus
    ClientASN ClientRequestBytes ClientSrcPort ClientTCPRTTMs EDNSSubnetLength EdgeColoID EdgeRateLimitID
    EdgeResponseBodyBytes EdgeResponseBytes EdgeResponseStatus EdgeTimeToFirstByteMs FirewallForAIInjectionScore
    FirewallForAITokenCount MatchIndex OriginDNSResponseTimeMs OriginRequestHeaderSendDurationMs
    OriginResponseBytes OriginResponseDurationMs OriginResponseHeaderReceiveDurationMs OriginResponseStatus
    OriginResponseTime OriginTCPHandshakeDurationMs OriginTLSHandshakeDurationMs QueryType ResponseCode
    SmartRouteColoID UpperTierColoID WAFAttackScore WAFRCEAttackScore WAFSQLiAttackScore WAFXSSAttackScore
    WallTimeMs WorkerCPUTime WorkerSubrequestCount WorkerWallTimeUs ZoneID`,
  float: `
    EdgeResponseCompressionRatio`,
  boolean: `
    CacheReserveUsed CacheTieredFill EdgeCFConnectingO2O ResponseCached WorkerSubrequest`,
  time: `
    EdgeEndTimestamp`,
  list: `
    AISecurityPIICategories AISecurityUnsafeTopicCategories BotDetectionIDs BotDetectionTags BotTags
    ContentScanObjResults ContentScanObjSizes ContentScanObjTypes FirewallForAIPIICategories
    FirewallForAIUnsafeTopicCategories FraudDetectionIDs FraudDetectionTags ScriptTags SecurityActions
    SecurityRuleIDs SecuritySources Subrequests WebAssetsLabelsManaged`,
};

/** Cloudflare's name of a field to the kind of its column. The column has the same name. */
export const COLUMNS: ReadonlyMap<string, ColumnKind> = new Map(
  (Object.keys(NAMES) as ColumnKind[]).flatMap((kind) =>
    NAMES[kind]
      .trim()
      .split(/\s+/)
      .map((name): [string, ColumnKind] => [name, kind]),
  ),
);

/** The type of each kind's column. */
export const COLUMN_TYPES: Readonly<Record<ColumnKind, string>> = {
  keyword: 'LowCardinality(String)',
  text: 'String',
  integer: 'Nullable(Int64)',
  float: 'Nullable(Float64)',
  boolean: 'Nullable(Bool)',
  time: 'Nullable(Int64)',
  list: 'Array(String)',
};

/** Names of 2023 and before, with the names that Cloudflare gave the same fields on 2023-08-01. */
export const RENAMED_FIELDS: ReadonlyMap<string, string> = new Map([
  ['WAFAction', 'SecurityAction'],
  ['WAFRuleID', 'SecurityRuleID'],
  ['WAFRuleMessage', 'SecurityRuleDescription'],
  ['FirewallMatchesActions', 'SecurityActions'],
  ['FirewallMatchesRuleIDs', 'SecurityRuleIDs'],
  ['FirewallMatchesSources', 'SecuritySources'],
]);

/** Values by which Cloudflare says that there is none, besides the empty text. Kept in the line, absent in the column. */
export const ABSENT_VALUES: ReadonlyMap<string, string | number> = new Map<string, string | number>([
  ['BotScore', 0],
  ['ClientMTLSAuthStatus', 'unknown'],
  ['OriginResponseStatus', 0],
  ['ParentRayID', '00'],
  ['SmartRouteColoID', 0],
  ['UpperTierColoID', 0],
]);
