/** `obsiac-service serve`: runs the service until a signal stops it. */
import { createApp } from './app.ts';
import type { Settings } from './settings/definition.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Resolves when the service has stopped. Throws what `start` throws. */
export async function serve(settings: Settings): Promise<void> {
  const app = createApp(settings);
  const asked = stopRequest();
  await app.start();
  const reason = await asked;
  app.log.info({ reason }, 'stopping: finishing the requests under way');
  const deadline = setTimeout(() => {
    app.log.warn('requests were still under way after the stop timeout; ending now');
    process.exit(1);
  }, settings.stop_timeout * 1000);
  await app.stop();
  clearTimeout(deadline);
  app.log.info('stopped');
  // The channel to a launcher would keep the process alive.
  if (process.connected) process.disconnect();
}

/** Resolves at the first signal; the same signal again ends the process at once. */
function stopRequest(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      let seen = false;
      process.on(signal, () => {
        if (seen) process.exit(1);
        seen = true;
        resolve(signal);
      });
    }
    process.once('disconnect', () => resolve('the launcher is gone'));
  });
}
