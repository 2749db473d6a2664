/** The one line that shows how far an apply is. */
import { oneLine, type Style } from '../style.ts';

const MOST_BAR = 40;
const LEAST_BAR = 10;

/** `[=========>          ] 120/300  checkout-api/alert_rules/High errors`, never longer than the page. */
export function progressLine(finished: number, total: number, last: string, style: Style): string {
  const counts = `${finished}/${total}`;
  const room = style.width - 1;
  const barWidth = Math.min(MOST_BAR, room - counts.length - 5);
  if (barWidth < LEAST_BAR) {
    return counts;
  }
  const filled = total === 0 ? barWidth : Math.floor((finished / total) * barWidth);
  const bar = '='.repeat(filled) + (filled < barWidth ? '>' : '') + ' '.repeat(Math.max(0, barWidth - filled - 1));
  const rest = room - barWidth - counts.length - 5;
  const name = oneLine(last);
  const shown = name.length <= rest ? name : rest > 8 ? `…${name.slice(name.length - rest + 1)}` : '';
  return `[${style.add(bar)}] ${counts}  ${style.faint(shown)}`;
}
