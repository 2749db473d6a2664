/**
 * Create, change every field in turn, import: after each apply the next plan is empty, and each plan shows exactly what was
 * changed. The real command line against the real service.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { modelJsonSchema } from '@obsiac/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RealService, startRealService } from '../real-service.ts';
import { baseModel, type ModelData } from './base-model.ts';
import { FIELD_CASES } from './field-table.ts';
import { createProject, eventsOf, type Project, plannedChanges } from './project.ts';

let service: RealService;
let metricsId = '';
beforeAll(async () => {
  service = await startRealService();
  const channel = (name: string, type: string) =>
    service.send('POST', '/notification_settings', { name, type, destination: `https://hooks.example.com/${name}` });
  await channel('chat', 'slack');
  await channel('other-chat', 'slack');
  await channel('pages', 'pagerduty');
  const source = (name: string) => service.send('POST', '/datasources', { name, url: 'http://127.0.0.1:1' });
  metricsId = ((await source('metrics')) as { id: string }).id;
  await source('more-metrics');
});
afterAll(() => service.stop());

async function expectEmptyPlan(project: Project): Promise<void> {
  const result = await project.run('plan', '--detailed-exitcode');
  expect(result).toEqual({ code: 0, stdout: expect.stringMatching(/^No changes\./), stderr: '' });
}

describe('round trip over every field', () => {
  let project: Project;
  const model: ModelData = baseModel();

  beforeAll(() => {
    project = createProject(service);
  });
  afterAll(() => project.remove());

  const save = () => project.write('model.yaml', JSON.stringify(model, null, 2).replace('ID-OF-METRICS', metricsId));

  it('creates, then plans nothing', async () => {
    save();
    expect((await project.run('plan', '--detailed-exitcode')).code).toBe(2);
    expect(readdirSync(project.directory).sort()).toEqual(['config.json', 'model.yaml']);
    expect(await project.run('apply')).toMatchObject({ code: 0, stderr: '' });
    await expectEmptyPlan(project);
  });

  it.for(FIELD_CASES.map((one) => [one.note === undefined ? one.field : `${one.field} (${one.note})`, one] as const))(
    '%s',
    async ([, { change, expected, flags = [] }]) => {
      change(model);
      save();
      const planned = plannedChanges(await project.run('plan', '--json', ...flags));
      expect(planned.map(({ addr, action }) => ({ addr, action }))).toEqual(
        expected.map(({ addr, action }) => ({ addr, action })),
      );
      expected.forEach(({ paths }, index) => {
        if (paths !== undefined) expect(planned[index]?.paths).toEqual(paths);
      });
      expect(await project.run('apply', '-y', ...flags)).toMatchObject({ code: 0, stderr: '' });
      await expectEmptyPlan(project);
    },
  );

  it('has a case for every field of the schema', () => {
    const covered = new Set(FIELD_CASES.map(({ field }) => field));
    const schema = modelJsonSchema() as Schema;
    expect(fieldsOf(schema).filter((field) => !covered.has(field) && !NOT_A_FIELD_OF_THE_SERVICE.has(field))).toEqual(
      [],
    );
  });

  it('imports what was applied, and finds nothing to change', async () => {
    const imported = createProject(service);
    try {
      expect(await imported.spawn('-c', 'config.json', 'import', '-o', 'model.yaml')).toMatchObject({
        code: 0,
        stderr: '',
      });
      expect(existsSync(path.join(imported.directory, 'state.lock'))).toBe(false);
      const planned = plannedChanges(await imported.run('plan', '--json'));
      expect(planned.length).toBeGreaterThan(5);
      expect(planned.filter(({ action, paths }) => action !== 'adopt' || paths.length > 0)).toEqual([]);
      expect(await imported.run('apply')).toMatchObject({ code: 0, stderr: '' });
      await expectEmptyPlan(imported);
    } finally {
      imported.remove();
    }
  });

  it('destroys what it made, and nothing else', async () => {
    await service.send('POST', '/entities', {
      name: 'By hand',
      type: 'service',
      external_ref: 'by-hand',
      entity_class: 'alert-manager',
    });
    const { code, stdout } = await project.run('destroy', '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain('1 alert manager in the org is not managed here.');
    const { entities } = (await service.send('GET', '/entities')) as { entities: { external_ref: string }[] };
    expect(entities.map(({ external_ref }) => external_ref)).toEqual(['by-hand']);
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Accepted in the file without a meaning for the service, or about the file itself. */
const NOT_A_FIELD_OF_THE_SERVICE = new Set(['indicator.type']);

/** Names of objects of the schema, by the field that holds them. */
const OBJECT_NAMES: Readonly<Record<string, string>> = {
  entities: 'entity',
  indicators: 'indicator',
  alert_rules: 'rule',
  links: 'link',
  notification_channels: 'channel',
  adhoc_filter: 'adhoc_filter',
  runbook: 'runbook',
};

/** Every `object.field` of the schema. */
function fieldsOf(root: Schema): readonly string[] {
  const found = new Set<string>();
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolve(root.$defs?.[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const variants = (schema: Schema): readonly Schema[] => {
    const resolved = resolve(schema);
    const inner = [
      ...(resolved.anyOf ?? []),
      ...(resolved.oneOf ?? []),
      ...(resolved.items === undefined ? [] : [resolved.items]),
    ];
    return [resolved, ...inner.flatMap(variants)];
  };
  const visit = (schema: Schema, object: string | undefined): void => {
    for (const variant of variants(schema)) {
      for (const [field, value] of Object.entries(variant.properties ?? {})) {
        if (object !== undefined) found.add(`${object}.${field}`);
        if (OBJECT_NAMES[field] !== undefined) visit(value, OBJECT_NAMES[field]);
      }
    }
  };
  visit(root, undefined);
  return [...found];
}

describe('the ways to apply', () => {
  let project: Project;
  beforeAll(() => {
    project = createProject(service);
    const model = baseModel();
    for (const entity of model.entities) entity.external_ref = 'ways';
    project.write('model.yaml', model);
  });
  afterAll(async () => {
    await project.run('destroy', '--yes');
    project.remove();
  });

  it('as a process, in the documented form', async () => {
    expect(await project.spawn('-mf', 'model.yaml', '-c', 'config.json', 'plan')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const applied = await project.spawn('apply', '-c=config.json', '-mf=model.yaml');
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(applied.stdout).toMatch(/Apply complete! Resources: 7 added, 0 changed, 0 destroyed\.\n$/);
    const again = await project.spawn('-c', 'config.json', '-mf', 'model.yaml', 'plan', '--detailed-exitcode');
    expect(again).toMatchObject({ code: 0, stderr: '' });
  });

  it('from a saved plan, once', async () => {
    const model = baseModel();
    for (const entity of model.entities) entity.external_ref = 'ways';
    for (const entity of model.entities) entity['tier'] = '3';
    project.write('model.yaml', model);
    expect((await project.run('plan', '-out', 'tier.plan')).code).toBe(0);
    expect(await project.spawn('-c', 'config.json', 'apply', 'tier.plan')).toMatchObject({ code: 0, stderr: '' });
    expect((await project.spawn('-c', 'config.json', 'apply', 'tier.plan')).code).toBe(7);
  });

  it('refuses a saved plan when somebody changed the service since', async () => {
    const model = baseModel();
    for (const entity of model.entities) entity.external_ref = 'ways';
    project.write('model.yaml', model);
    expect((await project.run('plan', '-out', 'stale.plan')).code).toBe(0);
    await service.send('POST', '/notification_settings', {
      name: 'new',
      type: 'slack',
      destination: 'https://hooks.example.com/new',
    });
    const refused = await project.run('apply', 'stale.plan');
    expect(refused).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('The organization has been changed since'),
    });
    expect((await project.run('plan', '--detailed-exitcode')).code).toBe(2);
  });

  it('with events on the screen and in a file, both ending with the exit code', async () => {
    const result = await project.run('apply', '--json', '--json-into', 'events.ndjson');
    expect(result.code).toBe(0);
    const types = eventsOf(result).map(({ type }) => type);
    expect(types[0]).toBe('version');
    expect(types).toEqual(
      expect.arrayContaining([
        'state_lock_acquired',
        'planned_change',
        'change_summary',
        'apply_start',
        'apply_complete',
        'state_lock_released',
      ]),
    );
    expect(types.filter((type) => type === 'result')).toHaveLength(1);
    expect(eventsOf(result).at(-1)).toMatchObject({ type: 'result', exit_code: 0, command: 'apply' });
    const kept = readFileSync(path.join(project.directory, 'events.ndjson'), 'utf8').trimEnd().split('\n');
    expect(kept.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(types);
  });
});
