import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Entity } from '@obsiac/model';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApplyEvent } from '../../packages/cli/src/apply/apply.ts';
import { systemFileCalls } from '../../packages/cli/src/state/replace-file.ts';
import { modelArbitrary } from '../../packages/model/test/arbitrary.ts';
import { channel, entity, indicator, rule, typicalEntity } from './model.ts';
import { type Fate, type FaultyProxy, startProxy } from './proxy.ts';
import { startService, type TestService } from './service.ts';
import { contents, createWorkspace, hasChanges, type Workspace } from './workspace.ts';

let service: TestService;
let proxy: FaultyProxy;
let workspace: Workspace;

beforeAll(async () => {
  service = await startService();
  proxy = await startProxy(() => service.base);
});
afterAll(async () => {
  await proxy.stop();
  await service.stop();
});
beforeEach(() => {
  workspace = createWorkspace({ apiBaseUrl: service.base, org: 'acme' });
});
afterEach(async () => {
  proxy.fate = () => 'pass';
  proxy.seen.length = 0;
  await service.request('read', 'GET', '/entities').then(async (answer) => {
    for (const { id } of (answer as { entities: { id: string }[] }).entities) {
      await service.request('delete', 'DELETE', `/entities/${id}`);
    }
  });
  workspace.remove();
});

const sleeps: number[] = [];
/** Through the proxy, without waiting between attempts. */
const hurried = (more: object = {}) =>
  service.client({
    through: proxy.base,
    maxAttempts: 4,
    sleep: async (ms) => {
      sleeps.push(ms);
    },
    ...more,
  });
const writes = () => proxy.seen.filter(({ method, path }) => method !== 'GET' && !path.endsWith('access_token'));
const addresses = (outcomes: readonly { address: string }[]) => outcomes.map(({ address }) => address);

describe('a whole model', () => {
  it('is applied in order, recorded, and then planned empty; destroyed again, nothing is left', async () => {
    const client = service.client();
    const wanted = { entities: [typicalEntity('checkout'), typicalEntity('cart')] };
    const events: ApplyEvent[] = [];
    const result = await workspace.apply(client, wanted, { onEvent: (event) => events.push(event) });
    expect(result).toMatchObject({ failed: [], skipped: [], exit: 0 });
    expect(result.stopped).toBeUndefined();
    expect(result.done).toHaveLength(16);
    expect(events.filter(({ type }) => type === 'start')).toHaveLength(16);
    expect(events.at(-1)).toMatchObject({ type: 'done', finished: 16, total: 16 });
    const state = await workspace.state();
    expect(state?.pending).toEqual([]);
    expect(Object.keys(state!.entities)).toEqual(['cart', 'checkout']);
    expect(Object.keys(state!.entities['cart']!.alert_rules)).toHaveLength(3);
    expect(hasChanges(await workspace.plan(client, wanted))).toBe(false);

    const again = await workspace.apply(client, wanted);
    expect(again).toEqual({ done: [], failed: [], skipped: [], exit: 0 });
    expect((await workspace.state())?.serial).toBe(state!.serial);

    const destroyed = await workspace.apply(client, { entities: [] });
    expect(destroyed.done.filter(({ action }) => action === 'delete')).toHaveLength(16);
    expect(destroyed.exit).toBe(0);
    expect(await contents(client)).toEqual([]);
    expect(await workspace.state()).toMatchObject({ entities: {}, pending: [] });
  });

  it('of any kind plans empty afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(modelArbitrary({ maxEntities: 3 }), async ({ entities }) => {
        const names = new Set(
          ((await service.request('read', 'GET', '/notification_settings')) as { name: string }[]).map(
            ({ name }) => name,
          ),
        );
        // A colon cannot stand in a channel's name, and types must be those that the service holds.
        const usable = (each: Entity): Entity => ({
          ...each,
          notification_channels: each.notification_channels
            .filter(({ name }) => !name.includes(':'))
            .map((binding) => ({ ...binding, type: 'slack' as const })),
        });
        const wanted = { entities: entities.map(usable) };
        const sources = (await service.request('read', 'GET', '/datasources')) as { name: string }[];
        const knownSources = new Set(sources.map(({ name }) => name));
        for (const each of wanted.entities) {
          for (const { name } of each.notification_channels) {
            if (names.has(name)) continue;
            names.add(name);
            await service.request('write', 'POST', '/notification_settings', {
              name,
              type: 'slack',
              destination: 'https://example.com/x',
            });
          }
          const named = [
            each.data_source,
            each.adhoc_filter?.data_source ?? '',
            ...each.indicators.map(({ data_source }) => data_source),
          ];
          for (const name of named) {
            if (name === '' || knownSources.has(name)) continue;
            knownSources.add(name);
            await service.request('write', 'POST', '/datasources', { name, url: 'http://127.0.0.1:9090' });
          }
        }
        const client = service.client();
        const withoutIds = { entities: wanted.entities.map((each) => ({ ...each, data_source_id: '' })) };
        const result = await workspace.apply(client, withoutIds);
        expect(result.failed).toEqual([]);
        expect(result.exit).toBe(0);
        expect((await workspace.plan(client, withoutIds)).changes.filter(({ action }) => action !== 'noop')).toEqual(
          [],
        );
      }),
      { numRuns: 25 },
    );
  });

  it('is planned with the read token alone', async () => {
    const asked: string[] = [];
    const client = service.client({
      through: proxy.base,
      credential: (scope) => {
        asked.push(scope);
        return { ...service.credentials[scope], api_base_url: proxy.base };
      },
    });
    await workspace.plan(client, { entities: [typicalEntity('checkout')] });
    expect(asked).toEqual(['read']);
    expect(writes()).toEqual([]);
    expect(proxy.seen).toHaveLength(6);
  });
});

describe('changes', () => {
  const first = { entities: [typicalEntity('checkout')] };

  async function changed(change: (before: Entity) => Entity, more: object = {}) {
    const client = hurried();
    await workspace.apply(client, first);
    proxy.seen.length = 0;
    const wanted = { entities: [change(first.entities[0]!)], ...more };
    const result = await workspace.apply(client, wanted);
    expect(result).toMatchObject({ failed: [], exit: 0 });
    expect((await workspace.plan(client, wanted)).changes.filter(({ action }) => action !== 'noop')).toEqual([]);
    return {
      result,
      sent: writes().map(
        ({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/g, 'ID').replace(/\d+/g, 'N')}`,
      ),
    };
  }

  it('of metadata send the metadata alone, and keep what no model declares', async () => {
    const client = hurried();
    await workspace.apply(client, first);
    const [{ id }] = ((await service.request('read', 'GET', '/entities')) as { entities: [{ id: string }] }).entities;
    await service.request('write', 'PUT', `/entities/${id}/metadata`, {
      team: 'payments',
      tags: ['http', 'prod'],
      labels: { tier: '1' },
      renotify_enabled: true,
      renotify_interval_seconds: 600,
    });
    proxy.seen.length = 0;
    await workspace.apply(client, { entities: [{ ...first.entities[0]!, team: 'other', tags: [] }] });
    expect(writes().map(({ method, path }) => `${method} ${path}`)).toEqual([`PUT /entities/${id}/metadata`]);
    expect(await service.request('read', 'GET', `/entities/${id}`)).toMatchObject({
      metadata: { team: 'other', tags: [], renotify_interval_seconds: 600 },
    });
  });

  it('of the entity send the entity alone', async () => {
    const { sent } = await changed((before) => ({ ...before, description: 'more', ui_readonly: true }));
    expect(sent).toEqual(['PUT /entities/ID']);
  });

  it('of a rule keep a snooze', async () => {
    const client = hurried();
    await workspace.apply(client, first);
    const state = await workspace.state();
    const { id, alert_rules } = state!.entities['checkout']!;
    const ruleId = alert_rules['Errors']!.id;
    const { rules } = (await service.request('read', 'GET', `/entities/${id}/alert-rules`)) as {
      rules: Record<string, unknown>[];
    };
    const held = rules.find((each) => each['id'] === ruleId)!;
    const document = Object.fromEntries(
      [
        'rule_name',
        'primary_indicator',
        'expression',
        'condition',
        'alert_condition',
        'eval_window',
        'severity',
        'properties',
        'expression_args',
      ].map((key) => [key, held[key]]),
    );
    const until = Math.floor(Date.now() / 1000) + 3600;
    await service.request('write', 'PUT', `/entities/${id}/alert-rules/${ruleId}`, { ...document, mute_until: until });
    expect(hasChanges(await workspace.plan(client, first))).toBe(false);
    const [before] = first.entities;
    await workspace.apply(client, {
      entities: [{ ...before!, alert_rules: before!.alert_rules.map((each) => ({ ...each, bad_minutes: 2 })) }],
    });
    const after = (await service.request('read', 'GET', `/entities/${id}/alert-rules`)) as {
      rules: { id: string; mute_until: number }[];
    };
    expect(after.rules.find((each) => each.id === ruleId)?.mute_until).toBe(until);
  });

  it('of who is mentioned keep the attachment', async () => {
    const { sent, result } = await changed((before) => ({
      ...before,
      notification_channels: before.notification_channels.map((each, index) =>
        index === 0 ? { ...each, mention: ['@night'] } : each,
      ),
    }));
    expect(sent).toEqual(['POST /notification_settings/N/attach']);
    expect(result.done).toHaveLength(1);
  });

  it('by rename keep every id', async () => {
    const client = service.client();
    await workspace.apply(client, first);
    const before = (await workspace.state())!.entities['checkout']!;
    const [old] = first.entities;
    const wanted = {
      entities: [
        {
          ...old!,
          external_ref: 'checkout-api',
          indicators: old!.indicators.map((each) => (each.name === 'errors' ? { ...each, name: 'failures' } : each)),
          alert_rules: old!.alert_rules.map((each) => ({
            ...each,
            name: each.name === 'Errors' ? 'Failures' : each.name,
            indicator: each.indicator === 'errors' ? 'failures' : each.indicator,
            ...(each.pattern && { pattern: { ...each.pattern, indicator: 'failures' } }),
          })),
        },
      ],
      moved: [
        { from: 'checkout', to: 'checkout-api' },
        { from: 'checkout/indicators/errors', to: 'checkout-api/indicators/failures' },
        { from: 'checkout/alert_rules/Errors', to: 'checkout-api/alert_rules/Failures' },
      ],
    };
    const result = await workspace.apply(client, wanted);
    expect(result).toMatchObject({ failed: [], skipped: [], exit: 0 });
    const after = (await workspace.state())!.entities['checkout-api']!;
    expect((await workspace.state())!.entities).not.toHaveProperty('checkout');
    expect(after.id).toBe(before.id);
    expect(after.indicators['failures']!.id).toBe(before.indicators['errors']!.id);
    expect(after.alert_rules['Failures']!.id).toBe(before.alert_rules['Errors']!.id);
    expect((await workspace.plan(client, wanted)).changes.filter(({ action }) => action !== 'noop')).toEqual([]);
  });

  it('that remove things send the rule before its indicator, with the delete token', async () => {
    const { sent } = await changed((before) => ({
      ...before,
      indicators: before.indicators.slice(0, 1),
      alert_rules: before.alert_rules.slice(0, 2),
      notification_channels: before.notification_channels.slice(0, 1),
    }));
    expect(sent.toSorted()).toEqual([
      'DELETE /entities/ID/alert-rules/ID',
      'DELETE /entities/ID/kpis/ID',
      'DELETE /notification_settings/N/attach',
    ]);
    expect(sent.indexOf('DELETE /entities/ID/kpis/ID')).toBeGreaterThan(
      sent.indexOf('DELETE /entities/ID/alert-rules/ID'),
    );
  });

  it('made by somebody else are drift, and put right', async () => {
    const client = service.client();
    await workspace.apply(client, first);
    const { id, alert_rules } = (await workspace.state())!.entities['checkout']!;
    await service.request('delete', 'DELETE', `/entities/${id}/alert-rules/${alert_rules['Latency']!.id}`);
    const result = await workspace.apply(client, first);
    expect(addresses(result.done)).toEqual(['checkout/alert_rules/Latency']);
    expect(hasChanges(await workspace.plan(client, first))).toBe(false);
  });

  it('of a model whose state was lost are adopted, not doubled', async () => {
    const client = service.client();
    await workspace.apply(client, first);
    const before = await contents(client);
    rmSync(workspace.statePath);
    const result = await workspace.apply(client, first);
    expect(new Set(result.done.map(({ action }) => action))).toEqual(new Set(['adopt']));
    expect(await contents(client)).toEqual(before);
    expect(hasChanges(await workspace.plan(client, first))).toBe(false);
    expect(writes().filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('failures', () => {
  const wanted = { entities: [typicalEntity('checkout'), typicalEntity('cart')] };

  it('skip what depends on them and nothing else; the next apply does the rest', async () => {
    const client = hurried();
    proxy.fate = ({ method, path, body }) =>
      method === 'POST' && path.endsWith('/kpis') && body.includes('"latency"')
        ? { status: 400, body: { error: 'too slow' } }
        : 'pass';
    const result = await workspace.apply(client, wanted);
    expect(addresses(result.failed).toSorted()).toEqual(['cart/indicators/latency', 'checkout/indicators/latency']);
    expect(result.failed[0]!.reason).toContain('too slow');
    expect(addresses(result.skipped).toSorted()).toEqual(['cart/alert_rules/Latency', 'checkout/alert_rules/Latency']);
    expect(result.skipped[0]!.reason).toContain('indicators/latency');
    expect(result.done).toHaveLength(12);
    expect(result.exit).toBe(5);
    expect((await workspace.state())?.pending).toEqual([]);
    proxy.fate = () => 'pass';
    expect(await workspace.apply(client, wanted)).toMatchObject({ failed: [], skipped: [], exit: 0 });
    expect(hasChanges(await workspace.plan(client, wanted))).toBe(false);
  });

  it('in the middle of an entity leave it to the next apply, without a second one', async () => {
    const client = hurried();
    proxy.fate = ({ path }) => (path.endsWith('/metadata') ? { status: 400, body: { error: 'no' } } : 'pass');
    const result = await workspace.apply(client, wanted);
    expect(result).toMatchObject({ done: [], exit: 5 });
    expect(result.failed).toHaveLength(2);
    expect(await workspace.state()).toMatchObject({ entities: { cart: {}, checkout: {} }, pending: [] });
    proxy.fate = () => 'pass';
    expect((await workspace.plan(client, { entities: [] })).totals.delete).toBe(2);
    expect(await workspace.apply(client, wanted)).toMatchObject({ failed: [], exit: 0 });
    expect(hasChanges(await workspace.plan(client, wanted))).toBe(false);
  });

  it('of the network, where every answer is lost once, leave no duplicates', async () => {
    const lost = new Set<string>();
    proxy.fate = ({ method, path, body }) => {
      const key = `${method} ${path} ${body}`;
      if (method === 'GET' || path.endsWith('access_token') || lost.has(key)) return 'pass';
      lost.add(key);
      return 'lose';
    };
    const client = hurried({ maxAttempts: 6 });
    expect(await workspace.apply(client, wanted)).toMatchObject({ failed: [], skipped: [], exit: 0 });
    expect(lost.size).toBeGreaterThan(16);
    expect(hasChanges(await workspace.plan(client, wanted))).toBe(false);
  });

  it('of a service that is gone end the apply soon, not after one time-out for each object', async () => {
    const many = { entities: Array.from({ length: 60 }, (_, index) => typicalEntity(`entity-${index}`)) };
    let down = false;
    proxy.fate = ({ number }) => {
      down ||= number > 40;
      return down ? 'drop' : 'pass';
    };
    const client = hurried();
    const result = await workspace.apply(client, many);
    expect(result.exit).toBe(5);
    expect(result.stopped).toContain('stopped answering');
    expect(result.done.length + result.failed.length + result.skipped.length).toBe(60 * 8);
    expect(proxy.seen.length).toBeLessThan(40 + 16 * 4 * 4);
    proxy.fate = () => 'pass';
    expect(await workspace.apply(client, many)).toMatchObject({ failed: [], skipped: [], exit: 0 });
    expect(hasChanges(await workspace.plan(client, many))).toBe(false);
    expect(Object.keys((await workspace.state())!.entities)).toHaveLength(60);
  });

  it('of one object do not stop the others', async () => {
    proxy.fate = ({ method, body }) =>
      method === 'POST' && body.includes('cart"') && body.includes('external_ref') ? { status: 503, body: {} } : 'pass';
    const result = await workspace.apply(hurried(), wanted);
    expect(result.stopped).toBeUndefined();
    expect(addresses(result.failed)).toEqual(['cart']);
    expect(result.done).toHaveLength(8);
    expect(result.skipped).toHaveLength(7);
  });

  it('of the write token end with the code for it, nothing done', async () => {
    const client = hurried({
      credential: (scope: 'read') => ({
        ...service.credentials[scope],
        api_base_url: proxy.base,
        ...(scope === 'read' ? {} : { refresh_token: 'wrong' }),
      }),
    });
    const result = await workspace.apply(client, wanted);
    expect(result).toMatchObject({ done: [], exit: 4 });
    expect(result.failed[0]!.reason).toContain('api_config.write');
    expect(proxy.seen.filter(({ path }) => path.endsWith('access_token')).length).toBeLessThan(20);
    expect((await workspace.state())?.pending ?? []).toEqual([]);
  });

  it('of the delete token leave the rest done', async () => {
    await workspace.apply(service.client(), wanted);
    const client = hurried({
      credential: (scope: 'read') => ({
        ...service.credentials[(scope as string) === 'delete' ? 'write' : scope],
        api_base_url: proxy.base,
      }),
    });
    const result = await workspace.apply(client, { entities: [typicalEntity('checkout'), typicalEntity('new')] });
    expect(result.exit).toBe(5);
    expect(addresses(result.failed)).toEqual(['cart']);
    expect(result.failed[0]!.error?.code).toBe('scope_too_low');
    expect(result.skipped).toHaveLength(7);
    expect(result.done).toHaveLength(8);
  });
});

describe('a saved plan', () => {
  it('is refused as a whole when the service has moved on', async () => {
    const client = hurried();
    const { revision } = await client.organization();
    await service.request('write', 'POST', '/entities', { name: 'other', type: 't', external_ref: 'other' });
    const result = await workspace.apply(
      client,
      { entities: [typicalEntity('checkout')] },
      { expectedRevision: revision! },
    );
    expect(result).toMatchObject({ done: [], exit: 7 });
    expect(result.stopped).toContain('Run plan again');
    expect(writes()).toHaveLength(1);
    expect((await workspace.state())?.pending ?? []).toEqual([]);
  });

  it('is applied whole when nothing has moved, though our own writes move it', async () => {
    const client = hurried();
    const { revision } = await client.organization();
    const wanted = { entities: [typicalEntity('checkout'), typicalEntity('cart')] };
    expect(await workspace.apply(client, wanted, { expectedRevision: revision! })).toMatchObject({
      failed: [],
      exit: 0,
    });
    expect(hasChanges(await workspace.plan(client, wanted))).toBe(false);
  });
});

describe('stopping', () => {
  const many = { entities: Array.from({ length: 20 }, (_, index) => typicalEntity(`entity-${index}`)) };

  it('lets what runs end, writes the state, and says what was not tried', async () => {
    const stop = new AbortController();
    proxy.fate = ({ number }) => {
      if (number === 30) stop.abort();
      return 'pass';
    };
    const client = hurried();
    const result = await workspace.apply(client, many, { stop: stop.signal });
    expect(result).toMatchObject({ failed: [], exit: 9, stopped: 'Cancelled.' });
    expect(result.done.length).toBeGreaterThan(0);
    expect(result.done.length + result.skipped.length).toBe(160);
    const state = (await workspace.state())!;
    expect(state.pending).toEqual([]);
    expect(Object.keys(state.entities)).toHaveLength(result.done.filter(({ kind }) => kind === 'entity').length);
    expect(await workspace.apply(client, many)).toMatchObject({ failed: [], exit: 0 });
    expect(hasChanges(await workspace.plan(client, many))).toBe(false);
  });

  it('for the second time abandons the requests under way, and the next apply finds out about them', async () => {
    const stop = new AbortController();
    const abort = new AbortController();
    proxy.fate = async ({ number }) => {
      if (number === 150) {
        stop.abort();
        abort.abort();
      }
      return number > 130 && number < 170 ? 'lose' : 'pass';
    };
    const client = hurried();
    const result = await workspace.apply(client, many, { stop: stop.signal, abort: abort.signal });
    expect(result.exit).toBe(9);
    expect(result.failed.map(({ error }) => error?.code)).toContain('cancelled');
    expect((await workspace.state())!.pending.length).toBeGreaterThan(0);
    proxy.fate = () => 'pass';
    expect(await workspace.apply(client, many)).toMatchObject({ failed: [], exit: 0 });
    expect((await workspace.state())!.pending).toEqual([]);
    expect(hasChanges(await workspace.plan(client, many))).toBe(false);
  });
});

it('records each operation before it is sent', async () => {
  const unrecorded: string[] = [];
  proxy.fate = async ({ method, path, body }): Promise<Fate> => {
    if (method === 'POST' && path === '/entities') {
      const { external_ref } = JSON.parse(body) as { external_ref: string };
      const pending = (await workspace.state())?.pending ?? [];
      if (!pending.some(({ address }) => address === external_ref)) unrecorded.push(external_ref);
    }
    return 'pass';
  };
  const entities = Array.from({ length: 300 }, (_, index) => entity(`entity-${index}`));
  const result = await workspace.apply(hurried(), { entities });
  expect(result.done).toHaveLength(300);
  expect(unrecorded).toEqual([]);
});

it('takes few writes of the state for many operations', async () => {
  const entities = Array.from({ length: 100 }, (_, index) =>
    entity(`entity-${index}`, {
      indicators: [indicator('a'), indicator('b')],
      alert_rules: Array.from({ length: 5 }, (__, n) => rule(`r${n}`, 'a')),
      notification_channels: [channel('on call'), channel('on call', 'threat')],
    }),
  );
  const result = await workspace.apply(service.client(), { entities });
  expect(result.done).toHaveLength(1000);
  const serial = (await workspace.state())!.serial;
  expect(serial).toBeLessThan(60);
});

describe('a state that cannot be written', () => {
  const many = { entities: Array.from({ length: 100 }, (_, index) => typicalEntity(`entity-${index}`)) };

  it('from the start ends the apply before anything is sent', async () => {
    const rename = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    const failed = workspace.apply(hurried(), many, { files: { ...systemFileCalls, rename } });
    await expect(failed).rejects.toMatchObject({ name: 'StateError', code: 'no_space' });
    expect(writes()).toEqual([]);
  });

  it('in the middle stops the apply; the next one finds in the service what was not recorded', async () => {
    let calls = 0;
    const rename: typeof systemFileCalls.rename = (from, to) => {
      calls += 1;
      return calls > 5
        ? Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
        : systemFileCalls.rename(from, to);
    };
    const result = await workspace.apply(hurried(), many, { files: { ...systemFileCalls, rename } });
    expect(result.exit).toBe(5);
    expect(result.stopped).toContain('no space is left');
    expect(result.done.length).toBeGreaterThan(0);
    expect(result.done.length + result.failed.length + result.skipped.length).toBe(800);
    expect(await workspace.apply(hurried(), many)).toMatchObject({ failed: [], skipped: [], exit: 0 });
    expect((await workspace.state())!.pending).toEqual([]);
    expect(hasChanges(await workspace.plan(hurried(), many))).toBe(false);
  });

  it('since the lock was lost stops the apply and leaves the file to the other', async () => {
    const lockFile = `${workspace.statePath}.lock.info`;
    proxy.fate = ({ number }) => {
      if (number === 60)
        writeFileSync(lockFile, readFileSync(lockFile, 'utf8').replace(/"id": "[^"]+"/, '"id": "another"'));
      return 'pass';
    };
    const result = await workspace.apply(hurried(), many);
    expect(result.exit).toBe(5);
    expect(result.stopped).toContain('The lock was lost');
    expect(result.skipped.length).toBeGreaterThan(0);
    expect(readFileSync(lockFile, 'utf8')).toContain('another');
    rmSync(lockFile);
    expect(await workspace.apply(hurried(), many)).toMatchObject({ failed: [], exit: 0 });
    expect(hasChanges(await workspace.plan(hurried(), many))).toBe(false);
  });
});

it('takes the id that an update answers with, as a service that replaces rules gives a new one', async () => {
  const client = hurried();
  const [before] = [typicalEntity('checkout')];
  await workspace.apply(client, { entities: [before!] });
  proxy.fate = ({ method, path, body }) =>
    method === 'PUT' && path.includes('/alert-rules/')
      ? { status: 200, body: { ...JSON.parse(body), id: 'a-new-id' } }
      : 'pass';
  const after = {
    ...before!,
    alert_rules: before!.alert_rules.map((each) => (each.name === 'Errors' ? { ...each, bad_minutes: 1 } : each)),
  };
  expect(await workspace.apply(client, { entities: [after] })).toMatchObject({ done: [{ id: 'a-new-id' }], exit: 0 });
  expect((await workspace.state())!.entities['checkout']!.alert_rules['Errors']!.id).toBe('a-new-id');
});
