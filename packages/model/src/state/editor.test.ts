/** The state editor: every sequence of edits gives what plain maps would, and serials tell changes from none. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../test/reference-service.ts';
import { StateEditor } from './editor.ts';
import { emptyState, type State } from './state.ts';
import { writeState } from './write.ts';

const STAMP = { now: '2026-01-02T00:00:00Z', tool_version: '2.0.0' };
const empty = emptyState({
  org: 'acme',
  api_base_url: 'https://obsiac.example.com/api/v4',
  lineage: 'one',
  tool_version: '1.0.0',
  now: '2026-01-01T00:00:00Z',
});
const object = (id: string) => ({ id, digest: `1:${id}` });

/** All objects of a state by address: what the editor is compared with. */
function flat(state: State): Record<string, string> {
  const found: [string, string][] = [];
  for (const [ref, entity] of Object.entries(state.entities)) {
    found.push([ref, entity.id]);
    for (const [name, { id }] of Object.entries(entity.indicators)) found.push([`${ref}/indicators/${name}`, id]);
    for (const [name, { id }] of Object.entries(entity.alert_rules)) found.push([`${ref}/alert_rules/${name}`, id]);
    for (const { name, severity, id } of entity.channels)
      found.push([`${ref}/notification_channels/${name}/${severity}`, id]);
  }
  return Object.fromEntries(found);
}

const refs = ['a', 'b', 'constructor'];
const names = ['x', 'y/z', '__proto__'];
const sections = ['indicators', 'alert_rules', 'notification_channels'];
const childArbitrary = fc
  .tuple(fc.constantFrom(...sections), fc.constantFrom(...names), fc.constantFrom('breach', 'threat'))
  .map(([section, name, severity]) =>
    section === 'notification_channels' ? `${section}/${name}/${severity}` : `${section}/${name}`,
  );

type Edit =
  | { readonly kind: 'record' | 'remove'; readonly ref: string; readonly child: string; readonly id: string }
  | { readonly kind: 'move'; readonly ref: string; readonly to: string }
  | { readonly kind: 'snapshot' };

const editArbitrary: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('record' as const, 'remove' as const),
    ref: fc.constantFrom(...refs),
    child: fc.oneof(fc.constant(''), childArbitrary),
    id: fc.constantFrom('1', '2', '3'),
  }),
  fc.record({ kind: fc.constant('move' as const), ref: fc.constantFrom(...refs), to: fc.constantFrom(...refs) }),
  fc.constant({ kind: 'snapshot' as const }),
);

/** What an edit does to a plain map of addresses. */
function editMap(map: Map<string, string>, edit: Exclude<Edit, { kind: 'snapshot' }>): void {
  const inside = (ref: string) => [...map.keys()].filter((address) => address === ref || address.startsWith(`${ref}/`));
  if (edit.kind === 'move') {
    if (edit.ref === edit.to || !map.has(edit.ref)) return;
    for (const address of inside(edit.to)) map.delete(address);
    for (const address of inside(edit.ref)) {
      map.set(edit.to + address.slice(edit.ref.length), map.get(address)!);
      map.delete(address);
    }
    return;
  }
  const address = edit.child === '' ? edit.ref : `${edit.ref}/${edit.child}`;
  if (edit.kind === 'record') {
    if (map.has(edit.ref) || edit.child === '') map.set(address, edit.id);
  } else if (edit.child === '') for (const one of inside(edit.ref)) map.delete(one);
  else map.delete(address);
}

describe('StateEditor', () => {
  test('does what the same edits do to a plain map, with snapshots at any point', () => {
    fc.assert(
      fc.property(fc.array(editArbitrary, { maxLength: 40 }), (edits) => {
        const editor = new StateEditor(empty);
        const map = new Map<string, string>();
        for (const edit of edits) {
          if (edit.kind === 'snapshot') {
            expect(flat(editor.snapshot(STAMP))).toEqual(Object.fromEntries(map));
            continue;
          }
          if (edit.kind === 'move') {
            if (edit.ref !== edit.to) editor.move(edit.ref, edit.to);
          } else {
            const address = edit.child === '' ? edit.ref : `${edit.ref}/${edit.child}`;
            if (edit.kind === 'remove') editor.remove(address);
            else if (edit.child === '' || editor.get(edit.ref)) editor.record(address, object(edit.id));
          }
          editMap(map, edit);
          for (const [address, id] of map) expect(editor.get(address)?.id).toBe(id);
        }
        const last = editor.snapshot(STAMP);
        expect(flat(last)).toEqual(Object.fromEntries(map));
        expect(writeState(last, sha256)).toBe(writeState(structuredClone(last), sha256));
      }),
      { numRuns: 300 },
    );
  });

  test('raises the serial once for each snapshot with changes, and not for one without', () => {
    const editor = new StateEditor(empty);
    expect(editor.snapshot(STAMP)).toBe(empty);
    editor.record('a', object('1'));
    editor.record('a/alert_rules/r', object('2'));
    const first = editor.snapshot(STAMP);
    expect(first).toMatchObject({ serial: 1, updated_at: STAMP.now, tool_version: '2.0.0' });
    editor.record('a/alert_rules/r', object('2'));
    editor.remove('a/alert_rules/never there');
    expect(editor.snapshot(STAMP)).toBe(first);
    editor.remove('a/alert_rules/r');
    expect(editor.snapshot(STAMP).serial).toBe(2);
  });

  test('shares between snapshots what did not change, and leaves earlier ones as they are', () => {
    const editor = new StateEditor(empty);
    editor.record('a', object('1'));
    editor.record('b', object('2'));
    const first = editor.snapshot(STAMP);
    editor.record('b/indicators/i', object('3'));
    const second = editor.snapshot(STAMP);
    expect(second.entities['a']).toBe(first.entities['a']);
    expect(first.entities['b']?.indicators).toEqual({});
    expect(second.entities['b']?.indicators).toEqual({ i: object('3') });
  });

  test('keeps pending operations until they are recorded, removed or settled', () => {
    const editor = new StateEditor(empty);
    const operation = (address: string) => ({ address, action: 'create', digest: '1:x' }) as const;
    editor.begin(['a', 'b', 'c', 'd'].map(operation));
    expect(editor.snapshot(STAMP)).toMatchObject({ serial: 1, pending: ['a', 'b', 'c', 'd'].map(operation) });
    editor.record('a', object('1'));
    editor.remove('b');
    editor.settle('c');
    expect(editor.snapshot(STAMP)).toMatchObject({ serial: 2, pending: [operation('d')] });
    editor.settleAll();
    expect(editor.snapshot(STAMP)).toMatchObject({ serial: 3, pending: [] });
  });

  test('refuses to record what is in an alert manager that is not there', () => {
    expect(() => new StateEditor(empty).record('a/alert_rules/r', object('1'))).toThrow('no entity a');
  });
});
