/** Who visits what, from where: the stock of values that simulated traffic is made of. */
import { createZipf, type Random } from './random.ts';

export const ZONE = 'shop.example.com';

const HOSTS = ['www.shop.example.com', 'api.shop.example.com', 'img.shop.example.com', 'checkout.shop.example.com'];

const COLOS: readonly (readonly [colo: string, country: string, asns: readonly number[], cities: readonly string[]])[] =
  [
    ['FRA', 'de', [3320, 3209, 8881], ['Frankfurt am Main', 'Mannheim', 'Kassel']],
    ['LHR', 'gb', [2856, 5089, 13285], ['London', 'Reading', 'Luton']],
    ['IAD', 'us', [7018, 7922, 701], ['Ashburn', 'Baltimore', 'Richmond']],
    ['SJC', 'us', [7922, 7018, 20115], ['San Jose', 'Oakland', 'Fresno']],
    ['CDG', 'fr', [3215, 12322, 15557], ['Paris', 'Lille', 'Reims']],
    ['AMS', 'nl', [1136, 33915, 50266], ['Amsterdam', 'Utrecht', 'Zwolle']],
    ['BOM', 'in', [55836, 45609, 9829], ['Mumbai', 'Pune', 'Nashik']],
    ['NRT', 'jp', [4713, 2516, 17676], ['Tokyo', 'Yokohama', 'Chiba']],
    ['GRU', 'br', [28573, 26599, 18881], ['São Paulo', 'Campinas', 'Santos']],
    ['SIN', 'sg', [9506, 4773, 10091], ['Singapore']],
  ];

const USER_AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'shop-app/7.4.1 (Android 14; okhttp/4.12)',
  'curl/8.9.1',
  'python-requests/2.32.3',
];

export interface Visitor {
  readonly ip: string;
  readonly country: string;
  readonly city: string;
  readonly asn: number;
  readonly colo: string;
  readonly coloId: number;
  readonly userAgent: string;
  readonly bot: boolean;
  readonly device: 'desktop' | 'mobile';
  readonly ja3: string;
  readonly http: 'HTTP/1.1' | 'HTTP/2' | 'HTTP/3';
}

export interface Resource {
  readonly host: string;
  readonly path: string;
  readonly kind: 'page' | 'api' | 'image' | 'checkout' | 'probe';
  readonly contentType: string;
  /** Median size of the answer's body in bytes. */
  readonly size: number;
}

export interface World {
  readonly visitor: () => Visitor;
  readonly resource: () => Resource;
  readonly origins: readonly string[];
}

/** A fixed population of visitors and resources, drawn once from the seed. */
export function createWorld(random: Random): World {
  const visitors = Array.from({ length: 4000 }, () => createVisitor(random));
  return {
    visitor: createZipf(visitors, random, 0.8),
    resource: createZipf(createResources(random), random, 0.9),
    origins: ['192.0.2.10', '192.0.2.11', '192.0.2.12'],
  };
}

function createVisitor(random: Random): Visitor {
  const index = Math.min(Math.floor(random.next() ** 1.7 * COLOS.length), COLOS.length - 1);
  const [colo, country, asns, cities] = COLOS[index] as (typeof COLOS)[number];
  const userAgent = USER_AGENTS[
    Math.min(Math.floor(random.next() ** 1.4 * USER_AGENTS.length), USER_AGENTS.length - 1)
  ] as string;
  const ip = random.chance(0.2)
    ? `2001:db8:${random.hex(4)}:${random.hex(4)}::${random.hex(3)}`
    : `${random.pick([198, 203])}.${random.pick([18, 51, 0])}.${random.below(256)}.${1 + random.below(254)}`;
  return {
    ip,
    country,
    city: random.pick(cities),
    asn: random.pick(asns),
    colo,
    coloId: 10 + index * 7,
    userAgent,
    bot: /bot|curl|python/i.test(userAgent),
    device: /Mobile|Android/.test(userAgent) ? 'mobile' : 'desktop',
    ja3: random.hex(32),
    http: random.pick(['HTTP/2', 'HTTP/2', 'HTTP/3', 'HTTP/1.1']),
  };
}

function createResources(random: Random): readonly Resource[] {
  const [www, api, img, checkout] = HOSTS as [string, string, string, string];
  const resources: Resource[] = [
    { host: www, path: '/', kind: 'page', contentType: 'text/html', size: 24_000 },
    { host: api, path: '/v1/session', kind: 'api', contentType: 'application/json', size: 700 },
    { host: api, path: '/v1/cart', kind: 'api', contentType: 'application/json', size: 1_800 },
    { host: checkout, path: '/api/checkout/pay', kind: 'checkout', contentType: 'application/json', size: 900 },
    { host: checkout, path: '/api/checkout/confirm', kind: 'checkout', contentType: 'application/json', size: 600 },
    { host: www, path: '/search', kind: 'page', contentType: 'text/html', size: 31_000 },
    { host: www, path: '/wp-login.php', kind: 'probe', contentType: 'text/html', size: 300 },
  ];
  for (let item = 0; item < 1500; item += 1) {
    const id = 100_000 + random.below(900_000);
    resources.push(
      {
        host: img,
        path: `/products/${id}/${random.pick(['small', 'large'])}.webp`,
        kind: 'image',
        contentType: 'image/webp',
        size: 48_000,
      },
      { host: www, path: `/products/${id}`, kind: 'page', contentType: 'text/html', size: 28_000 },
      { host: api, path: `/v1/products/${id}`, kind: 'api', contentType: 'application/json', size: 2_400 },
    );
  }
  return resources;
}
