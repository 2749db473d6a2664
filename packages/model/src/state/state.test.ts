/** State files read back as written, and damaged or misplaced ones are refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nameArbitrary } from '../../test/arbitrary.ts';
import { sha256 } from '../../test/reference-service.ts';
import { readState } from './read.ts';
import { type AppliedEntity, emptyState, type State } from './state.ts';
import { writeState } from './write.ts';

const expectation = { org: 'acme', api_base_url: 'https://obsiac.example.com/api/v4' };

const objectArbitrary = fc.record({ id: fc.uuid(), digest: fc.stringMatching(/^1:[0-9a-f]{32}$/) });
const objectsArbitrary = fc
  .uniqueArray(fc.tuple(fc.oneof(nameArbitrary, fc.constant('__proto__')), objectArbitrary), {
    maxLength: 5,
    selector: ([name]) => name,
  })
  .map((entries) => Object.fromEntries(entries));

const entityArbitrary: fc.Arbitrary<AppliedEntity> = fc.record({
  id: fc.uuid(),
  digest: fc.string(),
  indicators: objectsArbitrary,
  alert_rules: objectsArbitrary,
  channels: fc.uniqueArray(
    fc.record({
      id: fc.string(),
      name: nameArbitrary,
      severity: fc.constantFrom('breach', 'threat'),
      digest: fc.string(),
    }),
    { maxLength: 4, selector: ({ name, severity }) => `${name}/${severity}` },
  ),
});

const stateArbitrary: fc.Arbitrary<State> = fc.record({
  version: fc.constant(1),
  serial: fc.nat(),
  lineage: fc.uuid(),
  tool_version: fc.string(),
  api_base_url: fc.constant(expectation.api_base_url),
  org: fc.constant(expectation.org),
  updated_at: fc.string(),
  entities: fc
    .uniqueArray(fc.tuple(nameArbitrary, entityArbitrary), { maxLength: 5, selector: ([ref]) => ref })
    .map((entries) => Object.fromEntries(entries)),
  pending: fc.array(
    fc.record(
      {
        address: fc.string(),
        action: fc.constantFrom('create', 'update', 'delete'),
        id: fc.string(),
        digest: fc.string(),
      },
      { requiredKeys: ['address', 'action'] },
    ),
    { maxLength: 3 },
  ),
});

const byKey = (entity: AppliedEntity) => ({
  ...entity,
  channels: entity.channels.toSorted((a, b) => (`${a.name}/${a.severity}` < `${b.name}/${b.severity}` ? -1 : 1)),
});
const comparable = (state: State) => ({
  ...state,
  entities: Object.entries(state.entities)
    .map(([ref, entity]) => [ref, byKey(entity)])
    .toSorted(),
});

describe('a written state', () => {
  test('reads back equal', () => {
    fc.assert(
      fc.property(stateArbitrary, (state) => {
        const read = readState(writeState(state, sha256), { expect: expectation, sha256 });
        expect(read.error).toBeUndefined();
        expect(comparable(read.state!)).toEqual(comparable(state));
      }),
    );
  });

  test('does not depend on the order in which things came into it, and survives being laid out anew', () => {
    fc.assert(
      fc.property(stateArbitrary, (state) => {
        const reverse = <Value>(record: Readonly<Record<string, Value>>) =>
          Object.fromEntries(Object.entries(record).toReversed());
        const other = reverse(
          Object.fromEntries(
            Object.entries(state.entities).map(([ref, entity]) => [
              ref,
              {
                ...entity,
                indicators: reverse(entity.indicators),
                alert_rules: reverse(entity.alert_rules),
                channels: entity.channels.toReversed(),
              },
            ]),
          ),
        );
        const text = writeState(state, sha256);
        expect(writeState({ ...state, entities: other }, sha256)).toBe(text);
        const again = JSON.stringify(JSON.parse(text), null, 4).replaceAll('\n', '\r\n');
        expect(readState(again, { expect: expectation, sha256 }).state).toBeDefined();
      }),
    );
  });

  test('has one line for each object, of at most 250 bytes for a rule with a name of 100', () => {
    const rule = { id: '8c6f8f4e-6a0c-4a52-9a63-7f5f3a2b1c0d', digest: `1:${'a'.repeat(32)}` };
    const entity = { ...rule, indicators: {}, alert_rules: { [`5xx ${'n'.repeat(96)}`]: rule }, channels: [] };
    const state = {
      ...emptyState({ ...expectation, lineage: 'l', tool_version: '1', now: 'n' }),
      entities: { a: entity },
    };
    const line = writeState(state, sha256)
      .split('\n')
      .find((one) => one.includes('5xx'))!;
    expect(line).toBe(`  "5xx ${'n'.repeat(96)}": {"id": "${rule.id}", "digest": "${rule.digest}"}},`);
    expect(new TextEncoder().encode(line).length).toBeLessThanOrEqual(250);
  });
});

describe('a state file is refused', () => {
  const state = emptyState({ ...expectation, lineage: 'one', tool_version: '1.0.0', now: '2026-01-01T00:00:00Z' });
  const entity: AppliedEntity = {
    id: 'e1',
    digest: '1:x',
    indicators: {},
    alert_rules: { r: { id: 'r1', digest: '1:y' } },
    channels: [],
  };
  const text = writeState({ ...state, serial: 3, entities: { checkout: entity } }, sha256);
  const config = JSON.stringify({ api_config: { read: {} }, state_lock_file_path: 'a.lock' });

  test.each([
    ['empty', ' \n', {}, 'empty'],
    ['cut off', text.slice(0, -40), {}, 'truncated'],
    ['binary', '\u0000\u0001', {}, 'not-json'],
    ['a config file', config, {}, 'not-a-state'],
    ['a list', '[]', {}, 'not-a-state'],
    ['of a newer version', text.replace('"version": 1', '"version": 2'), {}, 'newer-version'],
    ['edited', text.replace('r1', 'r2'), {}, 'checksum'],
    ['without its checksum', text.replace(/,\n"checksum".*\n/, ''), {}, 'checksum'],
    ['of another shape', text.replace('"entities": {', '"entities": {"x": 1,'), {}, 'checksum'],
    ['of another organization', text, { org: 'other' }, 'other-org'],
    ['of another service', text, { api_base_url: 'https://other.example.com/api/v4' }, 'other-address'],
    ['of another lineage', text, { lineage: 'two' }, 'other-lineage'],
  ])('when it is %s', (_, damaged, changes, code) => {
    const { error } = readState(damaged, { expect: { ...expectation, ...changes }, sha256 });
    expect(error?.code).toBe(code);
    expect(error?.message).toMatch(/\.$/);
  });

  test('and not for a slash at the end of the address, nor with the lineage that is expected', () => {
    const expect_ = { ...expectation, api_base_url: `${expectation.api_base_url}/`, lineage: 'one' };
    expect(readState(text, { expect: expect_, sha256 }).state?.serial).toBe(3);
  });
});
