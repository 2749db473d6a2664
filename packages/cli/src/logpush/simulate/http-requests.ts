/** Simulated `http_requests`: a shop's traffic with about sixty fields a record, as Logpush writes them. */

import type { Moment } from './moment.ts';
import type { Random } from './random.ts';
import { type Resource, type Visitor, type World, ZONE } from './world.ts';

interface Outcome {
  readonly status: number;
  readonly originStatus: number;
  readonly cache: string;
  /** Milliseconds; 0 when the origin was not asked. */
  readonly originMs: number;
}

function decide(resource: Resource, moment: Moment, random: Random): Outcome {
  if (resource.kind === 'probe')
    return { status: 404, originStatus: 404, cache: 'dynamic', originMs: random.around(12, 0.4) };
  if (
    moment.incident &&
    (resource.kind === 'checkout' || resource.kind === 'api') &&
    random.chance(resource.kind === 'checkout' ? 0.7 : 0.25)
  ) {
    const timedOut = random.chance(0.4);
    return {
      status: timedOut ? 504 : 503,
      originStatus: timedOut ? 0 : 503,
      cache: 'dynamic',
      originMs: timedOut ? 30_000 : random.around(4_000, 0.5),
    };
  }
  if (resource.kind === 'image') {
    const hit = random.chance(0.93);
    return {
      status: random.chance(0.12) ? 304 : 200,
      originStatus: hit ? 0 : 200,
      cache: hit ? 'hit' : random.pick(['miss', 'expired']),
      originMs: hit ? 0 : random.around(60, 0.5),
    };
  }
  const roll = random.next();
  const status = roll < 0.0015 ? 500 : roll < 0.02 ? 404 : roll < 0.03 ? 403 : roll < 0.06 ? 301 : 200;
  return {
    status,
    originStatus: status,
    cache: 'dynamic',
    originMs: random.around(resource.kind === 'checkout' ? 180 : 70, 0.6),
  };
}

/** One record as JSON, without the line's end. `at` is the start in Unix nanoseconds. */
export function httpRequest(at: bigint, moment: Moment, world: World, random: Random): string {
  const visitor = world.visitor();
  const resource = world.resource();
  const outcome = decide(resource, moment, random);
  const ttfb = Math.round(outcome.originMs + random.around(14, 0.5));
  const total = BigInt(Math.round((ttfb + random.around(6, 0.8)) * 1e6));
  const bodyBytes =
    outcome.status >= 300 ? Math.round(random.around(420, 0.3)) : Math.round(random.around(resource.size, 0.4));
  return JSON.stringify({
    ...clientFields(visitor, resource, random),
    ...cacheAndEdgeFields(visitor, resource, outcome, bodyBytes, ttfb),
    ...originFields(outcome, world, random),
    ...securityFields(visitor, resource, random),
    RayID: random.hex(16),
    ParentRayID: '00',
    ZoneName: ZONE,
    WorkerStatus: 'unknown',
    WorkerSubrequest: false,
    WorkerCPUTime: 0,
    EdgeStartTimestamp: '\u0000start',
    EdgeEndTimestamp: '\u0000end',
  })
    .replace('"\\u0000start"', at.toString())
    .replace('"\\u0000end"', (at + total).toString());
}

function clientFields(visitor: Visitor, resource: Resource, random: Random) {
  const query =
    resource.path === '/search'
      ? `?q=${random.pick(['lamp', 'desk', 'chair', 'shoes', 'tent'])}&page=${1 + random.below(9)}`
      : '';
  const method = resource.kind === 'checkout' || (resource.path === '/v1/cart' && random.chance(0.5)) ? 'POST' : 'GET';
  return {
    ClientIP: visitor.ip,
    ClientASN: visitor.asn,
    ClientCountry: visitor.country,
    ClientCity: visitor.city,
    ClientDeviceType: visitor.device,
    ClientIPClass: visitor.bot ? 'searchEngine' : 'noRecord',
    ClientMTLSAuthStatus: 'unknown',
    ClientRequestBytes: Math.round(random.around(method === 'POST' ? 2_100 : 900, 0.3)),
    ClientRequestHost: resource.host,
    ClientRequestMethod: method,
    ClientRequestPath: resource.path,
    ClientRequestProtocol: visitor.http,
    ClientRequestReferer: resource.kind === 'page' && random.chance(0.5) ? '' : `https://www.${ZONE}/`,
    ClientRequestScheme: 'https',
    ClientRequestSource: 'eyeball',
    ClientRequestURI: resource.path + query,
    ClientRequestUserAgent: visitor.userAgent,
    ClientSSLCipher: visitor.http === 'HTTP/1.1' ? 'ECDHE-RSA-AES128-GCM-SHA256' : 'AEAD-AES128-GCM-SHA256',
    ClientSSLProtocol: visitor.http === 'HTTP/1.1' ? 'TLSv1.2' : 'TLSv1.3',
    ClientSrcPort: 1024 + random.below(64_000),
    ClientTCPRTTMs: visitor.http === 'HTTP/3' ? 0 : Math.round(random.around(28, 0.6)),
    ClientXRequestedWith: '',
  };
}

function cacheAndEdgeFields(visitor: Visitor, resource: Resource, outcome: Outcome, bodyBytes: number, ttfb: number) {
  return {
    CacheCacheStatus: outcome.cache,
    CacheReserveUsed: false,
    CacheResponseBytes: outcome.cache === 'hit' ? bodyBytes + 410 : 0,
    CacheTieredFill: outcome.cache === 'miss',
    EdgeCFConnectingO2O: false,
    EdgeColoCode: visitor.colo,
    EdgeColoID: visitor.coloId,
    EdgePathingOp: 'wl',
    EdgePathingSrc: 'macro',
    EdgePathingStatus: 'nr',
    EdgeRequestHost: outcome.cache === 'hit' ? '' : resource.host,
    EdgeResponseBodyBytes: bodyBytes,
    EdgeResponseBytes: bodyBytes + 640,
    EdgeResponseCompressionRatio: resource.kind === 'image' ? 0 : 3.9,
    EdgeResponseContentType: outcome.status >= 500 ? 'text/html' : resource.contentType,
    EdgeResponseStatus: outcome.status,
    EdgeServerIP: outcome.cache === 'hit' ? '' : '198.51.100.7',
    EdgeTimeToFirstByteMs: ttfb,
  };
}

function originFields(outcome: Outcome, world: World, random: Random) {
  const asked = outcome.originMs > 0;
  return {
    OriginDNSResponseTimeMs: asked && random.chance(0.05) ? 3 : 0,
    OriginIP: asked ? random.pick(world.origins) : '',
    OriginRequestHeaderSendDurationMs: 0,
    OriginResponseDurationMs: Math.round(outcome.originMs),
    OriginResponseHeaderReceiveDurationMs: Math.max(0, Math.round(outcome.originMs - 2)),
    OriginResponseHTTPExpires: '',
    OriginResponseHTTPLastModified: '',
    OriginResponseStatus: outcome.originStatus,
    OriginSSLProtocol: asked ? 'TLSv1.3' : 'unknown',
    OriginTCPHandshakeDurationMs: asked && random.chance(0.1) ? 2 : 0,
    OriginTLSHandshakeDurationMs: asked && random.chance(0.1) ? 5 : 0,
  };
}

function securityFields(visitor: Visitor, resource: Resource, random: Random) {
  const blocked = resource.kind === 'probe' && random.chance(0.8);
  return {
    BotScore: visitor.bot ? 2 + random.below(20) : 40 + random.below(60),
    BotScoreSrc: visitor.bot ? 'Heuristics' : 'Machine Learning',
    BotTags: visitor.bot ? ['bot'] : [],
    JA3Hash: visitor.ja3,
    SecurityAction: blocked ? 'managed_challenge' : '',
    SecurityActions: blocked ? ['managedChallenge'] : [],
    SecurityRuleDescription: blocked ? 'Known probes' : '',
    SecurityRuleID: blocked ? '5f1c2b7e9d3a4c68b0e2f4a6c8d0e1f2' : '',
    SecurityRuleIDs: blocked ? ['5f1c2b7e9d3a4c68b0e2f4a6c8d0e1f2'] : [],
    SecuritySources: blocked ? ['firewallCustom'] : [],
    WAFAttackScore: 60 + random.below(39),
    WAFFlags: '0',
    WAFMatchedVar: '',
    WAFRCEAttackScore: 70 + random.below(29),
    WAFSQLiAttackScore: 70 + random.below(29),
    WAFXSSAttackScore: 70 + random.below(29),
  };
}
