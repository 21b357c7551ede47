/** Who reads numbers of the node again and again: Prometheus, metrics-server and their like. */
import type { Route } from './exchange.ts';

/** What was read of one path since the start. */
export interface Scrape {
  /** That of the route: `/metrics/cadvisor`. */
  readonly path: string;
  readonly count: number;
  /** How many of them were not answered by a 200. */
  readonly failed: number;
  /** When it was asked for last, in milliseconds since the epoch. */
  readonly at: number;
  /** The name of the user who asked last. */
  readonly caller: string;
}

const SCRAPED = /^\/(metrics|stats)(\/|$)/;

/** Counts the requests to the paths with numbers: there are only so many of those, whoever asks. */
export class Scrapes {
  readonly #seen = new Map<string, Scrape>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** By their paths. */
  get seen(): readonly Scrape[] {
    return [...this.#seen.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** The route, counted if it is one with numbers. */
  watched(route: Route): Route {
    if (!SCRAPED.test(route.tree)) return route;
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
