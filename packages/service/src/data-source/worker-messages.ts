/** What the service and the thread that reads big answers say to each other. */
import type { AnswerLimits } from './answer.ts';
import type { RangeSeries, SourceErrorCode } from './source.ts';

export type WorkerRequest =
  | { readonly kind: 'read'; readonly body: Uint8Array; readonly limits: AnswerLimits }
  | { readonly kind: 'next' };

export type Portion =
  | {
      readonly kind: 'portion';
      readonly series: RangeSeries[];
      readonly warnings: string[];
      readonly isLast: boolean;
    }
  | { readonly kind: 'refused'; readonly code: SourceErrorCode; readonly message: string }
  | { readonly kind: 'error'; readonly errorType: string; readonly message: string };
