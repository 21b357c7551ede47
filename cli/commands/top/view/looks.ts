/** Looks at all actors of an agent again and again, also after the connection was lost. */
import type { Clock } from '../../../../base/clock.ts';
import { messageOf } from '../../../../base/failure.ts';
import type { AnsweredActors } from '../../get/readActors.ts';

/** What is seen; while the connection is lost that is the last look. */
export interface Look {
  readonly actors: AnsweredActors;
  readonly lost?: Lost;
}

interface Lost {
  /** By the clock of who looks, in milliseconds since the epoch. */
  readonly since: number;
  readonly retryAt: number;
  readonly why: string;
}

interface LooksParts {
  readonly ask: () => Promise<AnsweredActors>;
  readonly onLook: (look: Look) => void;
  readonly clock: Clock;
}

/** A look begins so long after the last one has ended. */
const LOOK_MS = 1_000;
const RETRY_MS = 2_000;

/** Goes on from a first look until the function that it returns is called. */
export function keepLooking(first: AnsweredActors, { ask, onLook, clock }: LooksParts): () => void {
  let last: Look = { actors: first };
  let timer: unknown;
  let isOver = false;
  const tell = (look: Look) => {
    last = look;
    if (!isOver) onLook(look);
  };
  const look = async () => {
    try {
      tell({ actors: await ask() });
    } catch (error) {
      const now = clock.now();
      const lost = { since: last.lost?.since ?? now, retryAt: now + RETRY_MS, why: messageOf(error) };
      tell({ actors: last.actors, lost });
    }
    next();
  };
  const next = () => {
    if (!isOver) timer = clock.setTimeout(() => void look(), last.lost ? RETRY_MS : LOOK_MS);
  };
  next();
  return () => {
    isOver = true;
    clock.clearTimeout(timer);
  };
}
