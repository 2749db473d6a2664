/** A store with an alert manager and channels, and what an evaluator would tell the notifier of them. */
import { rmSync } from 'node:fs';
import type { NotificationMessage } from '@obsiac/api';
import type { AlertEvent, Episode } from '@obsiac/model';
import type { Transaction } from 'kysely';
import { closeStore, openStore, type Store } from '../src/metadata/store.ts';
import type { AlertNotificationRow, AlertRuleRow, EntityRow, KpiRow, Tables } from '../src/metadata/tables.ts';
import { listBindings } from '../src/notifier/bindings.ts';
import type { NotifyContext, OpenEpisode } from '../src/notifier/context.ts';
import { enqueueNotifications } from '../src/notifier/enqueue.ts';
import { createVault } from '../src/secrets/vault.ts';
import { type BackendName, databaseFor, temporaryDir } from './service.ts';

export const ORGANIZATION = { id: 'org-1', slug: 'acme' };
export const PUBLIC_URL = 'https://obsiac.example.com';

/** 2026-03-02 00:00 UTC, a Monday, in minutes. */
export const MIDNIGHT = Date.UTC(2026, 2, 2) / 60_000;

export const VAULT = createVault(new Uint8Array(32).fill(7));

export interface NotifyStore {
  readonly store: Store;
  /** What `store.now()` says, in minutes; one may set it. */
  readonly clock: { minute: number; extraMs: number };
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  addChannel(change?: Partial<ChannelDraft>): Promise<number>;
  attach(channelId: number, change?: { severity?: string; mention?: string[]; entityId?: string }): Promise<void>;
  rows(): Promise<AlertNotificationRow[]>;
  /** Without channels, episodes and messages, as at first. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

interface ChannelDraft {
  readonly name: string;
  readonly type: string;
  readonly destination: string;
  readonly sendResolved: boolean;
  readonly snoozeUntil: number;
  readonly webhookHeaders: Readonly<Record<string, string>>;
}

export async function openNotifyStore(backend: BackendName): Promise<NotifyStore> {
  const dataDir = temporaryDir();
  const databaseUrl = await databaseFor(backend);
  const clock = { minute: MIDNIGHT, extraMs: 0 };
  const now = () => clock.minute * 60_000 + clock.extraMs;
  const store = await openStore({ dataDir, databaseUrl, vault: VAULT, now });
  await store.db
    .insertInto('organizations')
    .values({ ...ORGANIZATION, name: 'Acme', revision: 1, created_at: 0 })
    .execute();
  await store.db.insertInto('entities').values(entityRow()).execute();
  await store.db.insertInto('alert_rules').values(ruleRow()).execute();
  let channels = 0;
  return {
    store,
    clock,
    dataDir,
    databaseUrl,
    addChannel: async (change = {}) => {
      channels += 1;
      const draft = { ...DRAFT, name: `channel ${channels}`, ...change };
      const { id } = await store.db
        .insertInto('notification_settings')
        .values({
          ...NO_CHANNEL,
          name: draft.name,
          type: draft.type,
          destination: VAULT.seal(draft.destination),
          property: VAULT.seal(JSON.stringify({ webhook_headers: draft.webhookHeaders })),
          send_resolved: draft.sendResolved ? 1 : 0,
          snooze_until: draft.snoozeUntil,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return id;
    },
    attach: async (channelId, { severity = 'breach', mention = [], entityId = 'entity-1' } = {}) => {
      await store.db
        .insertInto('notification_settings')
        .values({
          ...NO_CHANNEL,
          parent_id: channelId,
          entity_id: entityId,
          severity,
          mention: JSON.stringify(mention),
        })
        .execute();
    },
    rows: () => store.db.selectFrom('alert_notifications').selectAll().orderBy('id').execute(),
    reset: async () => {
      for (const table of ['alert_notifications', 'alert_episodes', 'notification_settings', 'alert_rules'] as const) {
        await store.db.deleteFrom(table).execute();
      }
      await store.db.insertInto('alert_rules').values(ruleRow()).execute();
      clock.minute = MIDNIGHT;
      clock.extraMs = 0;
    },
    close: async () => {
      await closeStore(store);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const DRAFT: ChannelDraft = {
  name: '',
  type: 'generic_webhook',
  destination: 'http://127.0.0.1:9/hook/x',
  sendResolved: true,
  snoozeUntil: 0,
  webhookHeaders: {},
};

const NO_CHANNEL = {
  organization_id: ORGANIZATION.id,
  parent_id: null,
  entity_id: null,
  severity: '',
  mention: '[]',
  name: '',
  type: '',
  destination: '',
  property: '',
  send_resolved: 0,
  snooze_until: 0,
  created_at: 0,
  updated_at: 0,
};

export function ruleRow(change: Partial<AlertRuleRow> = {}): AlertRuleRow {
  return {
    id: 'rule-1',
    organization_id: ORGANIZATION.id,
    entity_id: 'entity-1',
    rule_name: 'Too many errors',
    primary_indicator: 'Errors',
    pattern_indicator: '',
    algorithm: 'static_threshold',
    expression: 'Errors',
    condition: 'expr > 100.000000',
    bad_minutes: 5,
    eval_window: 10,
    severity: 'breach',
    is_disabled: 0,
    mute_until: 0,
    group_timeseries_notifications: 0,
    properties: JSON.stringify({
      description: 'Errors of {{ $labels.job }} are at {{ $value | humanize }}.',
      runbook: { link: 'https://runbooks.example.com/{{ $labels.job }}' },
      annotations: { 'Check Logs': 'https://logs.example.com/?q={{ urlquery $labels.job }}' },
    }),
    expression_args: '{}',
    recurring_mute_schedule: null,
    external_ref: '',
    error_since: null,
    created_at: 0,
    updated_at: 0,
    ...change,
  };
}

export function entityRow(change: Partial<EntityRow> = {}): EntityRow {
  return {
    id: 'entity-1',
    organization_id: ORGANIZATION.id,
    name: 'Checkout',
    type: 'service',
    external_ref: 'checkout',
    description: '',
    data_source: '',
    data_source_id: '',
    namespace: '',
    tier: '',
    workspace: '',
    entity_class: 'alert-manager',
    ui_readonly: 0,
    snoozed_until: 0,
    metadata_id: 'm',
    metadata: JSON.stringify({
      team: 'payments',
      tags: ['tier-1', 'checkout'],
      links: [{ name: 'Dashboard', url: 'https://grafana.example.com/d/1' }],
    }),
    created_at: 0,
    updated_at: 0,
    ...change,
  };
}

export const INDICATOR: KpiRow = {
  id: 'kpi-1',
  organization_id: ORGANIZATION.id,
  entity_id: 'entity-1',
  name: 'Errors',
  query: 'sum by (job) (rate(errors_total[5m]))',
  source: 'levitate',
  unit: 'count',
  data_source: '',
  kpi_type: 'custom',
  description: '',
  created_at: 0,
  updated_at: 0,
};

/** An episode of the series `job=<job>` that fired at a minute. */
export function episodeOf(job: string, firedMinute: number, change: Partial<Episode> = {}): Episode {
  const id = `${job}@${firedMinute}`;
  return {
    id,
    groupId: id,
    ruleId: 'rule-1',
    seriesKey: JSON.stringify([['job', job]]),
    labels: { job },
    definition: 'd',
    firstBadMinute: firedMinute - 4,
    firedMinute,
    value: 250,
    ...change,
  };
}

export const opened = (episode: Episode, change: Partial<OpenEpisode> = {}): OpenEpisode => ({
  episode,
  value: 200,
  explanation: '',
  ...change,
});

export const fired = (episode: Episode): AlertEvent => ({
  kind: 'fired',
  minute: episode.firedMinute,
  episode,
  value: 200,
  late: false,
});

export function ended(episode: Episode, minute: number, reason: Episode['reason'] = 'recovered'): AlertEvent {
  return { kind: 'resolved', minute, episode: { ...episode, resolvedMinute: minute, reason }, value: 1, late: false };
}

export interface Minute {
  readonly minute: number;
  readonly open?: readonly OpenEpisode[];
  readonly events?: readonly AlertEvent[];
  readonly rule?: Partial<AlertRuleRow>;
  readonly entity?: Partial<EntityRow>;
  /** The rule is gone. */
  readonly gone?: boolean;
}

export async function contextOf(db: Transaction<Tables>, minute: Minute): Promise<NotifyContext> {
  const bindings = (await listBindings(db, ORGANIZATION.id)).get('entity-1') ?? [];
  return {
    organization: ORGANIZATION,
    ruleId: 'rule-1',
    entityId: 'entity-1',
    definition: minute.gone
      ? undefined
      : {
          rule: ruleRow(minute.rule),
          entity: entityRow(minute.entity),
          indicator: INDICATOR,
          query: INDICATOR.query,
          dataSource: 'prod',
          bindings,
        },
    open: minute.open ?? [],
    events: minute.events ?? [],
    publicUrl: PUBLIC_URL,
  };
}

/** What the evaluator does at a minute: tells the notifier, in one transaction. @returns messages that are new */
export function enqueueMinute({ store, clock }: NotifyStore, minute: Minute): Promise<number> {
  clock.minute = minute.minute;
  return store.db
    .transaction()
    .execute(async (tx) =>
      enqueueNotifications(tx, await contextOf(tx, minute), { minute: minute.minute, nowMs: minute.minute * 60_000 }),
    );
}

/** `trigger a@1 → channel 1` */
export function told(rows: readonly AlertNotificationRow[]): string[] {
  return rows.map((row) => {
    const state = row.status === 'pending' ? '' : ` (${row.status})`;
    const sequence = row.sequence === 0 ? '' : ` ${row.sequence}`;
    return `${row.event}${sequence} ${row.unit_id} → ${row.channel_name}${state}`;
  });
}

export const messageIn = (row: AlertNotificationRow): NotificationMessage => JSON.parse(row.message);
