/** A data source for tests: answers Prometheus' range queries of one metric by a function of the minute. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface MetricSource {
  readonly url: string;
  /** A series of the query; undefined at a minute (since 1970) is a gap. */
  series(query: string, labels: Readonly<Record<string, string>>, value: (minute: number) => number | undefined): void;
  clear(): void;
  /** Status of every answer from now on; undefined: it answers. */
  fail(status: number | undefined): void;
  close(): Promise<void>;
}

interface Series {
  readonly query: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: (minute: number) => number | undefined;
}

export async function startMetricSource(): Promise<MetricSource> {
  const all: Series[] = [];
  let failure: number | undefined;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      response.statusCode = failure ?? 200;
      response.setHeader('content-type', 'application/json');
      response.end(
        failure === undefined ? answer(all, body, request.url ?? '') : '{"status":"error","error":"broken"}',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    series: (query, labels, value) => void all.push({ query, labels, value }),
    clear: () => void all.splice(0),
    fail: (status) => {
      failure = status;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(all: readonly Series[], body: string, url: string): string {
  const asked = new URLSearchParams(body === '' ? (url.split('?')[1] ?? '') : body);
  const number = (name: string) => Number(asked.get(name));
  const result = all
    .filter(({ query }) => query === asked.get('query'))
    .map(({ labels, value }) => {
      const values: [number, string][] = [];
      for (let time = number('start'); time <= number('end'); time += 60) {
        const sample = value(Math.round(time / 60));
        if (sample !== undefined) values.push([time, String(sample)]);
      }
      return { metric: labels, values };
    })
    .filter(({ values }) => values.length > 0);
  return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
}
