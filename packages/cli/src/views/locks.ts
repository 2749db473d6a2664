/** What is said about the state lock. */
import type { LockInfo } from '../lock/lock.ts';
import { notice } from './messages.ts';
import type { Message } from './view.ts';

function holderText({ who, host, pid, operation, created }: LockInfo): string {
  return `${who} on ${host} (process ${pid}, ${operation}, since ${created})`;
}

export function waitingForLock(holder: LockInfo, timeoutMs: number): Message {
  return notice(`Waiting up to ${timeoutMs / 1000} s for the state lock of ${holderText(holder)}.`);
}

export function lockAcquired(lock: { readonly info: LockInfo; readonly takenOverFrom: LockInfo | null }): Message {
  const { info, takenOverFrom } = lock;
  const text =
    takenOverFrom === null ? '' : `Took over the state lock of ${holderText(takenOverFrom)}, which is gone.\n`;
  return {
    stream: 'err',
    ...(text !== '' && { human: () => text }),
    json: () => [
      {
        type: 'state_lock_acquired',
        message: takenOverFrom === null ? 'The state is locked' : text.trimEnd(),
        lock: info,
        ...(takenOverFrom !== null && { taken_over_from: takenOverFrom }),
      },
    ],
  };
}

export function lockReleased(info: LockInfo): Message {
  return { stream: 'err', json: () => [{ type: 'state_lock_released', message: 'The state is unlocked', lock: info }] };
}
