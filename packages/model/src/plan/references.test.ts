/** Unknown channels and data sources: what is said, where, and how bad it is. */
import { describe, expect, test } from 'vitest';
import { makeBinding, makeEntity, makeIndicator, planOf, serviceWith } from '../../test/situations.ts';
import type { Source } from '../diagnostic.ts';
import type { ChannelBinding, Entity } from '../model.ts';
import type { Actual, ActualChannel, ActualDataSource } from './plan.ts';

const at = (line: number): Source => ({ file: 'model.yaml', line, column: 5, endLine: line, endColumn: 9 });

function problemsOf(entities: readonly Entity[], changes: Partial<Actual> = {}) {
  return planOf(entities, { ...serviceWith(), ...changes }, null).diagnostics;
}

const withBindings = (...bindings: readonly ChannelBinding[]) => makeEntity({ notification_channels: bindings });

describe('a channel', () => {
  test('that exists gives its id to the change, whatever the letters of its type', () => {
    const channels = [{ id: '7', name: 'oncall', type: 'Slack' }];
    const made = planOf([withBindings(makeBinding())], { ...serviceWith(), channels }, null);
    expect(made.diagnostics).toEqual([]);
    expect(made.changes.at(-1)).toMatchObject({ kind: 'channel', channelId: '7' });
  });

  test('that does not exist is an error with its name, its place, and what exists, nearest first', () => {
    const channels = ['alpha', 'beta', 'on-call'].map((name, id) => ({ id: `${id}`, name, type: 'slack' }));
    const [problem, ...others] = problemsOf([withBindings(makeBinding({ source: at(12) }))], { channels });
    expect(others).toEqual([]);
    expect(problem).toEqual({
      severity: 'error',
      code: 'channel/unknown',
      summary: 'Unknown notification channel',
      detail:
        'The service has no notification channel named "oncall". The service has "on-call" (slack), "alpha" (slack), "beta" (slack). Channels are created in the service, not in the model.',
      source: at(12),
    });
  });

  test('is reported once, with its other places; both severities of one entry are one place', () => {
    const places = [12, 30, 30, 44, 50, 60, 70, 80];
    const bindings = places.map((line, index) =>
      makeBinding({ name: 'gone', severity: index % 2 === 0 ? 'breach' : 'threat', source: at(line) }),
    );
    const entities = bindings.map((binding, index) =>
      makeEntity({ ...withBindings(binding), external_ref: `e${index}` }),
    );
    const problems = problemsOf(entities);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.source?.line).toBe(12);
    expect(problems[0]?.detail).toContain(
      'Also named at model.yaml:30, model.yaml:44, model.yaml:50, model.yaml:60, model.yaml:70 and 1 more places.',
    );
  });

  test('of another type says which type it has', () => {
    const [problem] = problemsOf([withBindings(makeBinding({ name: 'pager', type: 'slack' }))]);
    expect(problem).toMatchObject({ code: 'channel/unknown', severity: 'error' });
    expect(problem?.detail).toContain('"pager" is of type pagerduty in the service, not slack');
  });

  test('named without a type is ambiguous among several types, and not with one', () => {
    const channels = [
      { id: '1', name: 'oncall', type: 'slack' },
      { id: '2', name: 'oncall', type: 'pagerduty' },
    ];
    const bare = [withBindings(makeBinding({ type: null }))];
    expect(problemsOf(bare, { channels })).toMatchObject([{ code: 'channel/ambiguous', severity: 'error' }]);
    expect(problemsOf([withBindings(makeBinding({ type: 'pagerduty' }))], { channels })).toEqual([]);
    expect(problemsOf(bare, { channels: channels.slice(0, 1) })).toEqual([]);
  });

  test('in a service without channels says to create it there; long lists are cut', () => {
    expect(problemsOf([withBindings(makeBinding())], { channels: [] })[0]?.detail).toContain(
      'The service has no channels yet',
    );
    const channels: ActualChannel[] = Array.from({ length: 25 }, (_, index) => ({
      id: `${index}`,
      name: `team channel ${index}`,
      type: 'slack',
    }));
    expect(problemsOf([withBindings(makeBinding())], { channels })[0]?.detail).toContain(' and 15 more. Channels');
  });
});

describe('a data source', () => {
  const entity = makeEntity({ data_source: 'staging', notification_channels: [], source: at(3) });
  const source = (name: string, is_default = false): ActualDataSource => ({ id: `id of ${name}`, name, is_default });
  const severityWith = (data_sources: readonly ActualDataSource[], one: Entity = entity) =>
    problemsOf([one], { data_sources }).map(({ code, severity }) => `${code} ${severity}`);

  test('that is unknown is a warning in a new service, which has none or its default one', () => {
    expect(severityWith([])).toEqual(['data-source/unknown warning']);
    expect(severityWith([source('embedded', true)])).toEqual(['data-source/unknown warning']);
  });

  test('is an error when the service has several, or one of nearly that name', () => {
    expect(severityWith([source('prod', true), source('dev')])).toEqual(['data-source/unknown error']);
    expect(severityWith([source('stagin', true)])).toEqual(['data-source/unknown error']);
  });

  test('is known by name or by id, and looked for in every place that can name one', () => {
    const data_sources = [source('staging')];
    expect(severityWith(data_sources)).toEqual([]);
    expect(
      severityWith(data_sources, makeEntity({ ...entity, data_source: '', data_source_id: 'id of staging' })),
    ).toEqual([]);
    const everywhere = makeEntity({
      data_source: 'first unknown',
      data_source_id: 'second thing',
      adhoc_filter: { data_source: 'third place', labels: { a: 'b' } },
      indicators: [makeIndicator({ data_source: 'and fourth', source: at(9) })],
      notification_channels: [],
      source: at(3),
    });
    const problems = problemsOf([everywhere], { data_sources });
    expect(problems.map((problem) => problem.source?.line)).toEqual([3, 3, 3, 9]);
    expect(problems.map(({ detail }) => /name or id "([^"]+)"/.exec(detail)?.[1])).toEqual([
      'first unknown',
      'second thing',
      'third place',
      'and fourth',
    ]);
  });
});
