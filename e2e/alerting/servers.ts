/** One VictoriaMetrics for a test file, and worlds on it that end with the file. */
import { afterAll, beforeAll } from 'vitest';
import { startVictoriaMetrics, victoriaMetricsBinary } from '../../tasks/victoria-metrics.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

type Server = Awaited<ReturnType<typeof startVictoriaMetrics>>;

export interface Worlds {
  readonly server: Server;
  /** A world with a metric of its own. */
  open(options?: Partial<WorldOptions>): Promise<World>;
}

const found = await victoriaMetricsBinary();

/** True where there is no VictoriaMetrics; with `CI=true` that throws instead. */
export const isMissing = found.binary === undefined;

/** To be called once, at the top of a test file. */
export function useWorlds(): Worlds {
  const worlds: World[] = [];
  let server: Server | undefined;
  beforeAll(async () => {
    if (found.binary) server = await startVictoriaMetrics({ binary: found.binary.path });
  });
  afterAll(async () => {
    for (const world of worlds) await world.stop();
    await server?.stop();
  });
  return {
    get server() {
      if (!server) throw new Error('there is no VictoriaMetrics');
      return server;
    },
    async open(options = {}) {
      const metric = `m${worlds.length + 1}`;
      const world = await createWorld({ source: this.server, flavour: 'victoriametrics', metric, ...options });
      worlds.push(world);
      return world;
    },
  };
}
