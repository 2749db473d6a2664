/** The message that shows a plan, in all its forms. */
import type { Message } from '../view.ts';
import { planText } from './human.ts';
import { planEvents } from './json.ts';
import type { PlanReport } from './report.ts';

export function planShown(report: PlanReport): Message {
  return {
    stream: 'out',
    human: (style) => planText(report, style),
    json: () => planEvents(report),
    comment: (parts) => {
      parts.plan = report;
    },
  };
}
