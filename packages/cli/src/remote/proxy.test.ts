import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openHttp } from './http.ts';
import { proxyFor } from './proxy.ts';

const PROXY = 'http://proxy.example.com:3128';

describe('proxyFor', () => {
  it.each([
    ['https://api.example.com/api/v4', { HTTPS_PROXY: PROXY }, 'HTTPS_PROXY'],
    ['https://api.example.com/api/v4', { https_proxy: PROXY, HTTPS_PROXY: 'http://other' }, 'https_proxy'],
    ['https://api.example.com/api/v4', { HTTP_PROXY: PROXY }, undefined],
    ['http://api.example.com/api/v4', { HTTP_PROXY: PROXY }, 'HTTP_PROXY'],
    ['http://api.example.com/api/v4', { HTTP_PROXY: '' }, undefined],
    ['http://127.0.0.1:7780/api/v4', { HTTP_PROXY: PROXY }, undefined],
    ['http://[::1]:7780/api/v4', { HTTP_PROXY: PROXY }, undefined],
    ['http://localhost/api/v4', { HTTP_PROXY: PROXY }, undefined],
    ['http://127.example.com/', { HTTP_PROXY: PROXY }, 'HTTP_PROXY'],
  ])('%s with %j: %s', (target, env, variable) => {
    expect(proxyFor(target, env)?.variable).toBe(variable);
  });

  it.each([
    ['api.example.com', null],
    ['example.com', null],
    ['.example.com', null],
    ['*.example.com', null],
    ['other, API.Example.com:443', null],
    ['*', null],
    ['api.example.com:8443', PROXY],
    ['ample.com', PROXY],
    ['', PROXY],
  ])('NO_PROXY=%s', (NO_PROXY, proxy) => {
    const found = proxyFor('https://api.example.com/api/v4', { HTTPS_PROXY: PROXY, NO_PROXY });
    expect(found?.url ?? null).toBe(proxy);
  });

  it('takes a host and port alone, and shows no password', () => {
    expect(proxyFor('http://a.example.com', { http_proxy: 'me:pw@proxy:3128' })).toEqual({
      url: 'http://me:pw@proxy:3128',
      shown: 'http://proxy:3128',
      variable: 'http_proxy',
    });
  });

  it.each(['socks5://me:pw@proxy:1080', 'http://', 'two words'])('refuses %s, without showing it', (value) => {
    const read = () => proxyFor('http://a.example.com', { HTTP_PROXY: value });
    expect(read).toThrow('HTTP_PROXY names no HTTP proxy');
    expect(read).not.toThrow(/pw|words/);
  });
});

describe('a request through a proxy', () => {
  const servers: Server[] = [];
  const listen = async (server: Server): Promise<number> => {
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  };
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('asks the proxy, with its password, for a name that only the proxy knows', async () => {
    const seen: string[] = [];
    const port = await listen(
      createServer((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
        response.end(`proxied for ${new URL(request.url!).host}`);
      }),
    );
    const http = openHttp({ proxy: `http://me:pw@127.0.0.1:${port}` });
    try {
      const answer = await http.fetch('http://only.proxy.knows/x', { method: 'GET', headers: {} });
      expect([answer.status, await answer.text()]).toEqual([200, 'proxied for only.proxy.knows']);
      expect(seen).toEqual([`GET http://only.proxy.knows/x Basic ${Buffer.from('me:pw').toString('base64')}`]);
    } finally {
      await http.close();
    }
  });
});
