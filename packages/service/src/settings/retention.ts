/** Reads the setting `log_retention`. */

export interface RetentionSetting {
  readonly days: number;
  readonly datasets: Readonly<Record<string, number>>;
}

/** `30d,http_requests=7d`; the definition of the setting has checked the form. */
export function parseRetention(text: string): RetentionSetting {
  const [first = '', ...others] = text.split(',').map((part) => part.trim());
  const datasets = others.map((part) => {
    const [dataset = '', days = ''] = part.split('=').map((piece) => piece.trim());
    return [dataset, Number.parseInt(days, 10)] as const;
  });
  return { days: Number.parseInt(first, 10), datasets: Object.fromEntries(datasets) };
}
