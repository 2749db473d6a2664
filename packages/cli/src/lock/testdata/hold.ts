/** A process that takes a lock and holds it until it is told to give it back, to exit, or is killed. */
import { acquireLock } from '../lock.ts';

const lock = await acquireLock({ statePath: process.argv[2]!, operation: 'apply', timeoutMs: 0 });
process.on('message', (message) => {
  if (message === 'exit') process.exit(0);
  void lock.release().then(() => process.disconnect());
});
process.send?.(lock.info);
