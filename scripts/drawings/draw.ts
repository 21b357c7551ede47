/** Creates the drawing of a machine or region for the page. */
import type { AnyStateMachine } from 'xstate';
import type { Drawing, DrawnState, DrawnWay, FoldedState, ShownRule } from '../../inspect/protocol.ts';
import { columnsIn, regionOf, regionsOf, rulesOf } from '../../machines/drawing/regions.ts';
import { dotted, nodesOf } from '../../machines/drawing/ways.ts';
import { type Region, STATE_TAGS, type StateMeta } from '../../machines/shared/stateMeta.ts';
import { labelLines } from '../../web/model/chart/text.ts';
import { monoWidth } from '../../web/model/chart/textWidth.ts';
import { type Card, cardOf } from './cards.ts';
import { type Content, contentOf, type Item } from './content.ts';
import { countPlace, labelPlace, type Rectangle } from './labels.ts';
import { type Box, HEAD, type Routed } from './lanes.ts';
import { layOutCards, type OuterLayout } from './outer.ts';
import { columnsOf } from './stacks.ts';

const LABEL = { font: 10.5, line: 14 };

/** Lays out a drawing. The result is deterministic. */
export async function draw(machine: AnyStateMachine, rules: readonly ShownRule[], region?: Region): Promise<Drawing> {
  const content = contentOf(machine, region);
  const columns = columnsIn(machine, region);
  const cards = columns
    ? columnsOf(
        columns.map((column) => membersOf(column, content)),
        content.arrows,
      )
    : content.items.map((item) => cardOf(item, content.arrows));
  const outer = await layOutCards(cards, content.arrows.filter(isBetween(cards)), columns !== undefined);
  const describe = createDescriber(machine);
  const states = cards.flatMap((card) => card.boxes.map((box) => drawnState(box, placeOf(outer, card), describe)));
  const used = new Set(states.flatMap((state) => [state, ...(state.holds ?? [])]).flatMap(({ rules = [] }) => rules));
  return {
    machine: machine.id,
    ...(region ? { region: region.id } : {}),
    title: region?.title ?? 'whole',
    summary: machine.root.description ?? '',
    width: Math.ceil(outer.width),
    height: Math.ceil(outer.height),
    states,
    ways: withLabels(
      states,
      [...outer.routes, ...cards.flatMap((card) => innerRoutes(card, placeOf(outer, card)))],
      outer,
    ),
    exits: content.exits.map(({ id, from, label, to = '' }) => ({ way: id, from, label: withoutGuard(label), to })),
    regions: regionsShown(machine),
    rules: rules.filter(({ rule }) => used.has(rule)),
    statesOfAll: statesOf(machine).length,
  };
}

const membersOf = (column: readonly string[], { items }: Content): Item[] =>
  column.flatMap((id) => items.find((item) => item.id === id) ?? []);

const statesOf = (machine: AnyStateMachine) =>
  nodesOf(machine.root)
    .slice(1)
    .filter(({ type }) => type !== 'history');

const isBetween = (cards: readonly Card[]) => {
  const cardOfBox = new Map(cards.flatMap((card) => card.boxes.map(({ item }) => [item.id, card])));
  return ({ from, to }: { from: string; to: string }) => cardOfBox.get(from) !== cardOfBox.get(to);
};

const placeOf = ({ positions }: OuterLayout, { id }: Card) => positions.get(id) ?? [0, 0];

function regionsShown(machine: AnyStateMachine): Drawing['regions'] {
  const regions = regionsOf(machine);
  const all = statesOf(machine).map(dotted);
  return regions.map((region) => ({
    region: region.id,
    title: region.title,
    states: all.filter((state) => regionOf(machine, state) === region),
  }));
}

type Describe = (state: string) => Omit<FoldedState, 'state' | 'label'>;

/** Returns what a state declares about itself: its category, wait, description and rules. */
function createDescriber(machine: AnyStateMachine): Describe {
  const nodes = new Map(nodesOf(machine.root).map((node) => [dotted(node), node]));
  return (state) => {
    const node = nodes.get(state);
    // Safe cast: every machine declares StateMeta as its meta type.
    const { waitsFor } = (node?.meta ?? {}) as StateMeta;
    const tags = [...(node?.tags ?? []), ...(node?.parent?.tags ?? []), ...(node?.parent?.parent?.tags ?? [])];
    const tag = tags.find((each) => STATE_TAGS.some((known) => known === each));
    const description = node?.description;
    const rules = rulesOf(machine, state);
    return {
      ...(tag === undefined ? {} : { tag }),
      ...(waitsFor === undefined ? {} : { waitsFor }),
      ...(description === undefined ? {} : { description }),
      ...(rules.length === 0 ? {} : { rules }),
    };
  };
}

function drawnState({ item, ...box }: Box, [left, top]: readonly [number, number], describe: Describe): DrawnState {
  const place = {
    x: rounded(left + box.x),
    y: rounded(top + box.y),
    width: rounded(box.width),
    height: rounded(box.height),
  };
  const { id, label, node, holds } = item;
  if (holds) {
    const folded = holds.map((state) => ({ state, label: state.split('.').at(-1) ?? state, ...describe(state) }));
    return { state: id, label, kind: 'folded', ...place, holds: folded };
  }
  const kind = item.inside.length > 0 ? 'compound' : node?.type === 'final' ? 'final' : 'atomic';
  return { state: id, label, kind, ...place, ...describe(id) };
}

const rounded = (value: number): number => Math.round(value * 2) / 2;

const innerRoutes = (card: Card, [left, top]: readonly [number, number]): Routed[] =>
  card.inner.map(({ arrow, points }) => ({
    arrow,
    points: points.map(([x, y]) => [left + x, top + y] as const),
  }));

/**
 * Places counts and labels so that they overlap neither states nor each other. Timer transitions are placed first,
 * because they matter most.
 */
function withLabels(
  states: readonly DrawnState[],
  routes: readonly Routed[],
  { width, height }: OuterLayout,
): DrawnWay[] {
  const boxes = states.filter(({ kind }) => kind !== 'compound').map((state) => enlarge(state, 2));
  const heads = states.filter(({ kind }) => kind === 'compound').map((state) => ({ ...state, height: HEAD }));
  const occupied: Rectangle[] = [...boxes, ...heads];
  const inOrder = routes.toSorted((one, other) => labelPriority(other) - labelPriority(one));
  const place = (find: (route: Routed) => Rectangle | undefined) =>
    new Map(
      inOrder.map((route) => {
        const rectangle = find(route);
        if (rectangle) occupied.push(rectangle);
        return [route, rectangle] as const;
      }),
    );
  const counts = place(({ points }) => countPlace(points, occupied));
  // Unlike counts, labels must not overlap compound states either.
  occupied.push(...states.map((state) => enlarge(state, 3)));
  const bounds = { x: 0, y: 0, width, height };
  const labels = place((route) => {
    const size = labelSize(labelOf(route));
    return size.width === 0 ? undefined : labelPlace(route.points, size, occupied, bounds);
  });
  return routes.map((route) => drawnWay(route, labels.get(route), counts.get(route)));
}

const enlarge = ({ x, y, width, height }: Rectangle, by: number): Rectangle => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

const labelPriority = ({ arrow }: Routed): number =>
  arrow.ways.some(({ event }) => event === 'timer.elapsed') ? 1 : 0;

/**
 * Returns one line for each event. Ways on the same event differ in their guards, whose names mean nothing to a reader
 * of the page.
 */
const labelOf = ({ arrow }: Routed): string[] => [...new Set(arrow.ways.map(({ label }) => withoutGuard(label)))];

const withoutGuard = (label: string): string => label.replace(/ ?\[.*\]$/, '');

/** Returns the maximum size of a label. The label of a timer includes the remaining time. */
function labelSize(label: readonly string[]): { width: number; height: number } {
  if (!label.some(Boolean)) return { width: 0, height: 0 };
  const lines = labelLines(label, '59m59s');
  return { width: Math.max(...lines.map((line) => monoWidth(line, LABEL.font))), height: lines.length * LABEL.line };
}

function drawnWay(route: Routed, place: Rectangle | undefined, count: Rectangle | undefined): DrawnWay {
  const { arrow, points } = route;
  return {
    ways: arrow.ways.map(({ id }) => id),
    from: arrow.from,
    to: arrow.to,
    points: points.map(([x, y]) => [rounded(x), rounded(y)] as const),
    label: labelOf(route),
    ...(place ? { labelAt: [rounded(place.x), rounded(place.y)] as const } : {}),
    ...(count ? { countAt: [rounded(count.x + count.width / 2), rounded(count.y + count.height / 2)] as const } : {}),
  };
}
