/** Rules over the logs that the service keeps: from delivered records to messages. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isMissing, useWorlds } from './servers.ts';
import { START, type World } from './world.ts';

const worlds = useWorlds();

const OWN = {
  logs: true,
  disk_reserve: 0,
  engine_memory: 1_073_741_824,
  log_retention: '36500d',
} as const;

interface Intake {
  readonly endpoint: string;
  readonly authorization: string;
}

async function send(world: World, lines: readonly string[]): Promise<void> {
  const { endpoint, authorization } = JSON.parse(readFileSync(world.app.intakeFile!, 'utf8')) as Intake;
  const url = `${endpoint}/cloudflare?dataset=http_requests`;
  const body = `${lines.join('\n')}\n`;
  const answer = await fetch(url, { method: 'POST', body, headers: { authorization, 'content-type': 'text/plain' } });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

describe.skipIf(isMissing)('the logs as a data source', () => {
  it('alert on the share of errors that the edge answered', async () => {
    const world = await worlds.open({ channels: ['pager'], settings: OWN });
    await world.app.logs!.store.whenReady(AbortSignal.timeout(60_000));
    const properties = { flavour: 'logs', evaluation_delay_seconds: 0 };
    await world.call('POST', '/datasources', { name: 'edge', url: '', properties });
    const query = '100 * sum(rate(edge_requests_total{status_class="5xx"}[2m])) / sum(rate(edge_requests_total[2m]))';
    await world.rule({ rule_name: 'edge errors' }, { query, source: 'edge' });
    for (let minute = 0; minute < 30; minute++) {
      const failed = minute >= 10 && minute < 15 ? 10 : 1;
      const requests = Array.from({ length: 40 }, (_, index) => requestAt(minute, index, index < failed ? 503 : 200));
      await send(world, requests);
      await world.app.logs!.store.loaded(AbortSignal.timeout(60_000));
      await world.pass(1);
    }
    // Over two minutes the share is above 5 % from 10 to 15; met from 12 to 17.
    expect(world.heard({ channel: 'pager', rule: 'edge errors' })).toEqual(['12 trigger', '20 resolve']);
  });
});

/** A record as Logpush delivers it, of the minute that ends at `minute`. */
function requestAt(minute: number, index: number, status: number): string {
  const start = ((START + minute - 1) * 60 + 1 + index) * 1_000_000_000;
  return JSON.stringify({
    EdgeStartTimestamp: start,
    EdgeEndTimestamp: start + 5_000_000,
    EdgeResponseStatus: status,
    ClientRequestHost: 'shop.example.com',
    ClientRequestMethod: 'GET',
    ClientRequestURI: `/basket/${index}`,
    RayID: `ray${minute}x${index}`.padEnd(16, '0'),
    ZoneName: 'shop.example.com',
  });
}
