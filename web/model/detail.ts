/** What is shown of one actor only while it is selected: asked for anew when something of it has changed. */
import { batch, effect } from '@preact/signals';
import type { ShownActor } from '../../inspect/protocol.ts';
import { messageOf } from './actions.ts';
import type { Page } from './page.ts';
import { uidOf } from './selection.ts';
import type { World } from './world.ts';

/** So long after a question the next one is asked at the earliest. */
const EVERY_MS = 500;

/** The actors of the selected pod, or the node's own: while they are the same objects, nothing has changed. */
function family(world: World, path: string): readonly ShownActor[] {
  const uid = uidOf(path);
  const isOf = (each: string) => (uid === undefined ? uidOf(each) === undefined : uidOf(each) === uid);
  return [...world.actors.values()].filter((actor) => isOf(actor.path));
}

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((each, index) => each === other[index]);

/** Which question was asked last. */
interface Asked {
  readonly path: string;
  readonly at: number | undefined;
  readonly tries: number;
  readonly of: readonly ShownActor[];
}

interface Waits {
  readonly setTimeout: (after: () => void, ms: number) => unknown;
}

/** Keeps the page's detail to its selection until the function that it returns is called. */
export function followDetail(page: Page, { setTimeout: later }: Waits): () => void {
  let asked: Asked | undefined;
  let isResting = false;
  let isOver = false;
  const look = () => {
    const question = questionOf(page);
    if (isOver || isResting || question === undefined || isAnswered(question, asked)) return;
    asked = question;
    isResting = true;
    const rested = new Promise<void>((resolve) => void later(resolve, EVERY_MS));
    void Promise.all([ask(page, question), rested]).then(() => {
      isResting = false;
      look();
    });
  };
  const leave = effect(look);
  return () => {
    isOver = true;
    leave();
  };
}

const isAnswered = (question: Asked, asked: Asked | undefined): boolean =>
  asked !== undefined &&
  asked.path === question.path &&
  asked.at === question.at &&
  asked.tries === question.tries &&
  isSame(asked.of, question.of);

/** What is to be asked now; nothing while the hand is on the rail, the connection is lost, or the actor is gone. */
function questionOf(page: Page): Asked | undefined {
  const path = page.selected.value;
  const world = page.world.value;
  const tries = page.detailTries.value;
  const isStill = page.isMoving.value || page.connection.value.kind === 'lost';
  if (path === undefined || isStill || !world.actors.has(path)) return undefined;
  const at = page.past.value || page.held.value ? world.at : undefined;
  return { path, at, tries, of: family(world, path) };
}

async function ask(page: Page, { path, at }: Asked): Promise<void> {
  try {
    const detail = await page.asking.detail(path, at);
    if (page.selected.peek() !== path) return;
    batch(() => {
      page.detail.value = detail;
      page.detailTrouble.value = undefined;
    });
  } catch (error) {
    if (page.selected.peek() === path) page.detailTrouble.value = messageOf(error);
  }
}
