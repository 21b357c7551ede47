/** Tracks the clients that read metrics and statistics repeatedly, e.g. Prometheus and metrics-server. */
import type { Route } from './exchange.ts';

/** The requests to one path since the start. */
export interface Scrape {
  /** Path of the route, e.g. `/metrics/cadvisor`. */
  readonly path: string;
  readonly count: number;
  /** Number of requests without a complete response of status 200. */
  readonly failed: number;
  /** Time of the last request, in milliseconds since the epoch. */
  readonly at: number;
  /** Name of the user of the last request. */
  readonly caller: string;
}

const SCRAPED_PATHS = /^\/(metrics|stats)(\/|$)/;

/** Counts requests by route, so that the number of entries does not depend on the clients. */
export class Scrapes {
  readonly #seen = new Map<string, Scrape>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The scrapes, sorted by path. */
  get seen(): readonly Scrape[] {
    return [...this.#seen.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Returns the route, wrapped to count its requests if it serves metrics or statistics. */
  countRequests(route: Route): Route {
    if (!SCRAPED_PATHS.test(route.tree)) return route;
    return {
      ...route,
      answer: async (exchange) => {
        const { response, caller } = exchange;
        this.#note(route.tree, caller.name);
        response.once('close', () => {
          if (!response.writableFinished || response.statusCode !== 200) this.#noteFailed(route.tree);
        });
        await route.answer(exchange);
      },
    };
  }

  #note(path: string, caller: string): void {
    const { count = 0, failed = 0 } = this.#seen.get(path) ?? {};
    this.#seen.set(path, { path, count: count + 1, failed, at: this.#now(), caller });
  }

  #noteFailed(path: string): void {
    const seen = this.#seen.get(path);
    if (seen !== undefined) this.#seen.set(path, { ...seen, failed: seen.failed + 1 });
  }
}
