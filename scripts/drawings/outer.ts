/** Lays out the outermost boxes and the arrows between them with ELK. */
import elk, { type ElkExtendedEdge, type ElkNode, type ElkPort } from 'elkjs/lib/elk.bundled.js';
import type { Card } from './cards.ts';
import type { Arrow } from './content.ts';
import { middleY, type Point, type RoutedArrow } from './lanes.ts';

export interface OuterLayout {
  readonly width: number;
  readonly height: number;
  readonly positions: ReadonlyMap<string, Point>;
  readonly routes: readonly RoutedArrow[];
}

type Side = 'EAST' | 'WEST';

/** An arrow with the cards at its ends. */
interface Leg {
  readonly arrow: Arrow;
  readonly from: Card;
  readonly to: Card;
}

const LAYOUT_OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.padding': '[top=20,left=20,bottom=20,right=20]',
  'elk.spacing.nodeNode': '30',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '10',
  'elk.layered.spacing.nodeNodeBetweenLayers': '44',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '9',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.randomSeed': '1',
};

const COLUMN_OPTIONS = {
  'elk.layered.cycleBreaking.strategy': 'INTERACTIVE',
  'elk.layered.layering.strategy': 'INTERACTIVE',
  'elk.layered.crossingMinimization.strategy': 'INTERACTIVE',
};

/**
 * Lays out cards, from left to right in the given order if `isInOrder` is true. Runs ELK twice, because the side of a
 * card at which an arrow starts depends on the position of the other card.
 */
export async function layOutCards(
  cards: readonly Card[],
  arrows: readonly Arrow[],
  isInOrder: boolean,
): Promise<OuterLayout> {
  const cardLegs = arrows.flatMap((arrow): Leg[] => {
    const [from, to] = [findCardOfBox(cards, arrow.from), findCardOfBox(cards, arrow.to)];
    return from && to && from !== to ? [{ arrow, from, to }] : [];
  });
  const seedPositions = new Map(isInOrder ? cards.map(({ id }, index) => [id, { x: index * 1_000, y: 0 }]) : []);
  const firstLayout = await runElk(cards, cardLegs, seedPositions);
  const leftByCard = new Map((firstLayout.children ?? []).map(({ id, x = 0 }) => [id, x]));
  const isBackward = ({ from, to }: Leg) => (leftByCard.get(to.id) ?? 0) < (leftByCard.get(from.id) ?? 0);
  const { width = 0, height = 0, children = [], edges = [] } = await runElk(cards, cardLegs, seedPositions, isBackward);
  const positions = new Map(children.map(({ id, x = 0, y = 0 }): [string, Point] => [id, [x, y]]));
  const routes = edges.flatMap((edge) => {
    const leg = cardLegs[Number(edge.id)];
    return leg ? [{ arrow: leg.arrow, points: routePoints(edge, leg, positions, isBackward(leg)) }] : [];
  });
  return { width, height, positions, routes };
}

const findCardOfBox = (cards: readonly Card[], box: string): Card | undefined =>
  cards.find(({ boxes }) => boxes.some(({ item }) => item.id === box));

type SeedPositions = ReadonlyMap<string, { readonly x: number; readonly y: number }>;

/** The point at which an arrow touches a side of a box. */
interface ArrowEnd {
  readonly card: Card;
  readonly box: string;
  readonly side: Side;
}

/** Whether the card is a single state, which arrows may touch on all sides. */
const isSingleState = ({ id, boxes }: Card): boolean => boxes.length === 1 && boxes[0]?.item.id === id;
const portId = ({ card, box, side }: ArrowEnd): string => (isSingleState(card) ? card.id : `${box}|${side}`);
const legStart = ({ arrow, from }: Leg, isBack: boolean): ArrowEnd => ({
  card: from,
  box: arrow.from,
  side: isBack ? 'WEST' : 'EAST',
});
const legEnd = ({ arrow, to }: Leg, isBack: boolean): ArrowEnd => ({
  card: to,
  box: arrow.to,
  side: isBack ? 'EAST' : 'WEST',
});

/** An instance of ELK that all drawings share, because it is slow to start. */
const elkEngine = new elk.default();

/** Runs ELK. If `isBack` is undefined, arrows may start and end anywhere on a card. */
function runElk(
  cards: readonly Card[],
  legs: readonly Leg[],
  seeds: SeedPositions,
  isBack?: (leg: Leg) => boolean,
): Promise<ElkNode> {
  const portEnds = isBack ? legs.flatMap((leg) => [legStart(leg, isBack(leg)), legEnd(leg, isBack(leg))]) : [];
  const edges = legs.map((leg, index): ElkExtendedEdge => {
    const [source, target] = isBack
      ? [portId(legStart(leg, isBack(leg))), portId(legEnd(leg, isBack(leg)))]
      : [leg.from.id, leg.to.id];
    return { id: String(index), sources: [source], targets: [target] };
  });
  const children = cards.map((card): ElkNode => {
    const { id, width, height } = card;
    const ports = createPorts(portEnds.filter((end) => end.card === card && !isSingleState(card)));
    const fixedPorts = ports.length > 0 ? { ports, layoutOptions: { 'elk.portConstraints': 'FIXED_POS' } } : {};
    return { id, width, height, ...seeds.get(id), ...fixedPorts };
  });
  const layoutOptions = { ...LAYOUT_OPTIONS, ...(seeds.size > 0 ? COLUMN_OPTIONS : {}) };
  return elkEngine.layout({ id: 'root', layoutOptions, children, edges });
}

function createPorts(ends: readonly ArrowEnd[]): ElkPort[] {
  const endsById = new Map(ends.map((end) => [portId(end), end]));
  return [...endsById].map(([id, { card, box, side }]) => ({
    id,
    width: 0,
    height: 0,
    x: side === 'EAST' ? card.width : 0,
    y: portHeight(card, box),
    layoutOptions: { 'elk.port.side': side },
  }));
}

function portHeight({ boxes }: Card, id: string): number {
  const box = boxes.find(({ item }) => item.id === id);
  return box ? middleY(box) : 0;
}

/** Extends an arrow to the row inside the card, because ELK routes it only to the card's edge. */
function routePoints(edge: ElkExtendedEdge, leg: Leg, positions: OuterLayout['positions'], isBack: boolean): Point[] {
  const section = edge.sections?.[0];
  if (section === undefined) return [];
  const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint].map(({ x, y }): Point => [x, y]);
  const startPoint = rowEdge(legStart(leg, isBack), positions);
  const endPoint = rowEdge(legEnd(leg, isBack), positions);
  return [...(startPoint ? [startPoint] : []), ...points, ...(endPoint ? [endPoint] : [])];
}

/** Returns the point at the edge of a row, or undefined for the card itself. */
function rowEdge({ card, box: id, side }: ArrowEnd, positions: OuterLayout['positions']): Point | undefined {
  const box = card.boxes.find(({ item }) => item.id === id);
  const [x, y] = positions.get(card.id) ?? [0, 0];
  if (box === undefined || id === card.id) return undefined;
  return [x + box.x + (side === 'EAST' ? box.width : 0), y + portHeight(card, id)];
}
