/** Tracks the clients that read metrics and statistics repeatedly, e.g. Prometheus and metrics-server. */
import type { Route } from './exchange.ts';

/** Counts of the requests to one path since the agent started. */
export interface Scrape {
  /** Path of the route, e.g. `/metrics/cadvisor`. */
  readonly path: string;
  readonly count: number;
  /** Number of requests that did not receive a complete response with status 200. */
  readonly failed: number;
  /** Time of the last request, in milliseconds since the epoch. */
  readonly at: number;
  /** Name of the user of the last request. */
  readonly caller: string;
}

const SCRAPED_PATHS_PATTERN = /^\/(metrics|stats)(\/|$)/;

/** Counts requests by route rather than by path, so that clients cannot make the number of entries grow. */
export class Scrapes {
  readonly #scrapesByPath = new Map<string, Scrape>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The scrapes, sorted by path. */
  get scrapes(): readonly Scrape[] {
    return [...this.#scrapesByPath.values()].toSorted((left, right) => (left.path < right.path ? -1 : 1));
  }

  /** Wraps the route so that its requests are counted if it serves metrics or statistics. */
  countRequests(route: Route): Route {
    if (!SCRAPED_PATHS_PATTERN.test(route.pathPrefix)) return route;
    return {
      ...route,
      handle: async (exchange) => {
        const { response, caller } = exchange;
        this.#countRequest(route.pathPrefix, caller.name);
        response.once('close', () => {
          if (!response.writableFinished || response.statusCode !== 200) this.#countFailure(route.pathPrefix);
        });
        await route.handle(exchange);
      },
    };
  }

  #countRequest(path: string, caller: string): void {
    const { count = 0, failed = 0 } = this.#scrapesByPath.get(path) ?? {};
    this.#scrapesByPath.set(path, { path, count: count + 1, failed, at: this.#now(), caller });
  }

  #countFailure(path: string): void {
    const scrape = this.#scrapesByPath.get(path);
    if (scrape !== undefined) this.#scrapesByPath.set(path, { ...scrape, failed: scrape.failed + 1 });
  }
}
