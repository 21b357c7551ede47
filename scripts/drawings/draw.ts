/** Creates the drawing of a machine or region for the page. */
import type { AnyStateMachine } from 'xstate';
import type { Drawing, DrawnState, DrawnTransition, FoldedState, ShownRule } from '../../inspect/protocol.ts';
import { regionColumns, regionOf, regionsOf, rulesOf } from '../../machines/drawing/regions.ts';
import { dottedPath, nodesOf } from '../../machines/drawing/ways.ts';
import { type Region, STATE_TAGS, type StateMeta } from '../../machines/shared/stateMeta.ts';
import { labelLines } from '../../web/model/chart/text.ts';
import { monoWidth } from '../../web/model/chart/textWidth.ts';
import { type Card, createCard } from './cards.ts';
import { type Content, createContent, type Item } from './content.ts';
import { findCountRectangle, findLabelRectangle, type Rectangle } from './labels.ts';
import { type Box, HEAD_HEIGHT, type RoutedArrow } from './lanes.ts';
import { layOutCards, type OuterLayout } from './outer.ts';
import { layOutColumns } from './stacks.ts';

const LABEL_METRICS = { font: 10.5, line: 14 };

/** Lays out the drawing of a machine or region. The result is deterministic. */
export async function drawMachine(
  machine: AnyStateMachine,
  rules: readonly ShownRule[],
  region?: Region,
): Promise<Drawing> {
  const content = createContent(machine, region);
  const columns = regionColumns(machine, region);
  const cards = columns
    ? layOutColumns(
        columns.map((column) => itemsOfColumn(column, content)),
        content.arrows,
      )
    : content.items.map((item) => createCard(item, content.arrows));
  const outerLayout = await layOutCards(
    cards,
    content.arrows.filter(createCrossCardFilter(cards)),
    columns !== undefined,
  );
  const describe = createDescriber(machine);
  const states = cards.flatMap((card) =>
    card.boxes.map((box) => toDrawnState(box, cardPosition(outerLayout, card), describe)),
  );
  const usedRules = new Set(
    states.flatMap((state) => [state, ...(state.foldedStates ?? [])]).flatMap(({ rules = [] }) => rules),
  );
  return {
    machine: machine.id,
    ...(region ? { region: region.id } : {}),
    title: region?.title ?? 'whole',
    summary: machine.root.description ?? '',
    width: Math.ceil(outerLayout.width),
    height: Math.ceil(outerLayout.height),
    states,
    ways: withLabels(
      states,
      [...outerLayout.routes, ...cards.flatMap((card) => innerRoutes(card, cardPosition(outerLayout, card)))],
      outerLayout,
    ),
    exits: content.exits.map(({ id, from, label, to = '' }) => ({ way: id, from, label: removeGuard(label), to })),
    regions: describeRegions(machine),
    rules: rules.filter(({ rule }) => usedRules.has(rule)),
    statesOfAll: statesOf(machine).length,
  };
}

const itemsOfColumn = (column: readonly string[], { items }: Content): Item[] =>
  column.flatMap((id) => items.find((item) => item.id === id) ?? []);

const statesOf = (machine: AnyStateMachine) =>
  nodesOf(machine.root)
    .slice(1)
    .filter(({ type }) => type !== 'history');

const createCrossCardFilter = (cards: readonly Card[]) => {
  const cardOfBox = new Map(cards.flatMap((card) => card.boxes.map(({ item }) => [item.id, card])));
  return ({ from, to }: { from: string; to: string }) => cardOfBox.get(from) !== cardOfBox.get(to);
};

const cardPosition = ({ positions }: OuterLayout, { id }: Card) => positions.get(id) ?? [0, 0];

function describeRegions(machine: AnyStateMachine): Drawing['regions'] {
  const regions = regionsOf(machine);
  const paths = statesOf(machine).map(dottedPath);
  return regions.map((region) => ({
    region: region.id,
    title: region.title,
    states: paths.filter((state) => regionOf(machine, state) === region),
  }));
}

type StateDescriber = (state: string) => Omit<FoldedState, 'state' | 'label'>;

/**
 * Creates a function that describes a state: its category, its awaited condition, its description and its rules. A
 * state without a category inherits that of its parent or grandparent.
 */
function createDescriber(machine: AnyStateMachine): StateDescriber {
  const nodes = new Map(nodesOf(machine.root).map((node) => [dottedPath(node), node]));
  return (state) => {
    const node = nodes.get(state);
    // Safe cast: every machine declares StateMeta as its meta type.
    const { waitsFor } = (node?.meta ?? {}) as StateMeta;
    const tags = [...(node?.tags ?? []), ...(node?.parent?.tags ?? []), ...(node?.parent?.parent?.tags ?? [])];
    const tag = tags.find((each) => STATE_TAGS.some((stateTag) => stateTag === each));
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

function toDrawnState(
  { item, ...box }: Box,
  [left, top]: readonly [number, number],
  describe: StateDescriber,
): DrawnState {
  const position = {
    x: roundToHalf(left + box.x),
    y: roundToHalf(top + box.y),
    width: roundToHalf(box.width),
    height: roundToHalf(box.height),
  };
  const { id, label, node, foldedStates } = item;
  if (foldedStates) {
    const foldedItems = foldedStates.map((state) => ({
      state,
      label: state.split('.').at(-1) ?? state,
      ...describe(state),
    }));
    return { state: id, label, kind: 'folded', ...position, foldedStates: foldedItems };
  }
  const kind = item.children.length > 0 ? 'compound' : node?.type === 'final' ? 'final' : 'atomic';
  return { state: id, label, kind, ...position, ...describe(id) };
}

const roundToHalf = (value: number): number => Math.round(value * 2) / 2;

const innerRoutes = (card: Card, [left, top]: readonly [number, number]): RoutedArrow[] =>
  card.innerRoutes.map(({ arrow, points }) => ({
    arrow,
    points: points.map(([x, y]) => [left + x, top + y] as const),
  }));

/**
 * Places counts and labels so that they overlap neither states nor each other. Timer transitions are placed first,
 * because they matter most.
 */
function withLabels(
  states: readonly DrawnState[],
  routes: readonly RoutedArrow[],
  { width, height }: OuterLayout,
): DrawnTransition[] {
  const boxes = states.filter(({ kind }) => kind !== 'compound').map((state) => enlarge(state, 2));
  const headerBoxes = states
    .filter(({ kind }) => kind === 'compound')
    .map((state) => ({ ...state, height: HEAD_HEIGHT }));
  const occupied: Rectangle[] = [...boxes, ...headerBoxes];
  const orderedRoutes = routes.toSorted((left, right) => labelPriority(right) - labelPriority(left));
  const placeLabels = (find: (route: RoutedArrow) => Rectangle | undefined) =>
    new Map(
      orderedRoutes.map((route) => {
        const rectangle = find(route);
        if (rectangle) occupied.push(rectangle);
        return [route, rectangle] as const;
      }),
    );
  const countRectangles = placeLabels(({ points }) => findCountRectangle(points, occupied));
  // Also avoid compound states, because labels must not overlap them, whereas counts may.
  occupied.push(...states.map((state) => enlarge(state, 3)));
  const bounds = { x: 0, y: 0, width, height };
  const labels = placeLabels((route) => {
    const labelDimensions = labelSize(labelOf(route));
    return labelDimensions.width === 0
      ? undefined
      : findLabelRectangle(route.points, labelDimensions, occupied, bounds);
  });
  return routes.map((route) => toDrawnWay(route, labels.get(route), countRectangles.get(route)));
}

const enlarge = ({ x, y, width, height }: Rectangle, margin: number): Rectangle => ({
  x: x - margin,
  y: y - margin,
  width: width + 2 * margin,
  height: height + 2 * margin,
});

const labelPriority = ({ arrow }: RoutedArrow): number =>
  arrow.ways.some(({ event }) => event === 'timer.elapsed') ? 1 : 0;

/**
 * Returns one line for each event. Transitions on the same event share a line, because they differ in their guards,
 * whose names mean nothing to a reader of the page.
 */
const labelOf = ({ arrow }: RoutedArrow): string[] => [...new Set(arrow.ways.map(({ label }) => removeGuard(label)))];

const removeGuard = (label: string): string => label.replace(/ ?\[.*\]$/, '');

/** Returns the maximum size of a label. The label of a timer includes the remaining time. */
function labelSize(label: readonly string[]): { width: number; height: number } {
  if (!label.some(Boolean)) return { width: 0, height: 0 };
  const textLines = labelLines(label, '59m59s');
  return {
    width: Math.max(...textLines.map((line) => monoWidth(line, LABEL_METRICS.font))),
    height: textLines.length * LABEL_METRICS.line,
  };
}

function toDrawnWay(
  route: RoutedArrow,
  labelRectangle: Rectangle | undefined,
  countRectangle: Rectangle | undefined,
): DrawnTransition {
  const { arrow, points } = route;
  return {
    ways: arrow.ways.map(({ id }) => id),
    from: arrow.from,
    to: arrow.to,
    points: points.map(([x, y]) => [roundToHalf(x), roundToHalf(y)] as const),
    label: labelOf(route),
    ...(labelRectangle ? { labelAt: [roundToHalf(labelRectangle.x), roundToHalf(labelRectangle.y)] as const } : {}),
    ...(countRectangle
      ? {
          countAt: [
            roundToHalf(countRectangle.x + countRectangle.width / 2),
            roundToHalf(countRectangle.y + countRectangle.height / 2),
          ] as const,
        }
      : {}),
  };
}
