/** Alerting as one part of the service: data sources, evaluator and notifier, as the roles of the process say. */
import { hostname } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { createSources, type OwnSourceFactory } from './data-source/sources.ts';
import { createEvaluator, type Evaluator } from './evaluator/index.ts';
import type { Store } from './metadata/store.ts';
import { createNotifier, type Notifier } from './notifier/index.ts';
import type { Settings } from './settings/definition.ts';

export interface Alerting {
  /** Undefined: this process evaluates nothing (setting `roles`). */
  readonly evaluator: Evaluator | undefined;
  /** Undefined: this process delivers nothing. */
  readonly notifier: Notifier | undefined;
  start(): void;
  stop(): Promise<void>;
}

export interface AlertingParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly log: FastifyBaseLogger;
  /** Where this process answers, once it does; empty before. */
  readonly origin: () => string;
  /** Address of the dashboard, without a slash at its end. */
  readonly publicUrl: () => string;
  readonly embedded: OwnSourceFactory | undefined;
  readonly logs: OwnSourceFactory | undefined;
  /** Milliseconds before a failed query is asked again; random unless given. */
  readonly retryDelay?: (() => number) | undefined;
}

type Role = 'api' | 'intake' | 'evaluator' | 'notifier';

export function hasRole(settings: Pick<Settings, 'roles'>, role: Role): boolean {
  return settings.roles === 'all' || settings.roles.split(',').includes(role);
}

/** The address for other processes: one that means "this machine" would lead them to themselves. */
function advertised(settings: Settings, origin: string): string {
  if (settings.advertise_url !== undefined || origin === '') return settings.advertise_url ?? '';
  if (settings.host !== '0.0.0.0' && settings.host !== '::') return origin;
  const url = new URL(origin);
  url.hostname = hostname();
  return url.origin;
}

export function openAlerting(settings: Settings, parts: AlertingParts): Alerting {
  const { store, registry, log } = parts;
  const sources = createSources({ store, embedded: parts.embedded, logs: parts.logs });
  const evaluator = hasRole(settings, 'evaluator')
    ? createEvaluator({
        store,
        sources,
        log,
        registry,
        address: () => advertised(settings, parts.origin()),
        publicUrl: parts.publicUrl,
        window: { recoverMinutes: settings.recover_minutes, missing: settings.missing_minutes },
        seriesLimit: settings.series_limit,
        ...(parts.retryDelay && { retryDelay: parts.retryDelay }),
      })
    : undefined;
  const notifier = hasRole(settings, 'notifier') ? createNotifier({ store, log, registry, settings }) : undefined;
  return {
    evaluator,
    notifier,
    start: () => {
      evaluator?.start();
      notifier?.start();
    },
    stop: async () => {
      await evaluator?.stop();
      await notifier?.stop();
      await sources.close();
    },
  };
}
