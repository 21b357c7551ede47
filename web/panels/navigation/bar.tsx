/** The bar at the top with an overview of the node. Each cell filters the tree. */
import type { ComponentChildren } from 'preact';
import type { ShownGate, ShownNode } from '../../../inspect/protocol.ts';
import { CELL_FILTERS, containerFilter, countContainersByCategory, countPodsByPhase } from '../../model/actors/bar.ts';
import { filterBy } from '../../model/navigation/actions.ts';
import { formatShortDuration } from '../../model/rail/time.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import { Glyph } from '../../parts/glyph.tsx';
import { Spark } from '../../parts/spark.tsx';
import { isDark, toggleTheme } from '../../parts/theme.tsx';
import './bar.css';
import type { Panel } from '../panel.ts';

export const Bar = (panel: Panel) => (
  <header class="top">
    <Brand node={panel.page.world.value.node} />
    <div class="strip" role="group" aria-label="Node at a glance">
      <Pods {...panel} />
      <Containers {...panel} />
      <Gate {...panel} name="start" gate={panel.page.world.value.node.gates.start} />
      <Gate {...panel} name="pull" gate={panel.page.world.value.node.gates.pull} />
      <Loop {...panel} />
    </div>
    <Tools {...panel} />
  </header>
);

function Brand({ node }: { readonly node: ShownNode }) {
  const { name, version, ready } = node.runtime;
  const runtime = node.simulated ? 'simulated runtime' : `${name} ${version}`.trim();
  return (
    <div class="brand">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <rect x="1" y="1" width="22" height="22" rx="6.5" fill="none" stroke="currentColor" stroke-width="1.8" />
        <rect class="mid" x="6" y="6" width="12" height="12" rx="3.5" fill="none" stroke="currentColor" />
        <circle class={ready ? 'c-steady' : 'c-failed'} cx="12" cy="12" r="2.6" fill="currentColor" />
      </svg>
      <div>
        <b>statelet</b>
        <span title={node.runtime.message}>
          {node.name}, {runtime} {ready ? 'ready' : <em class="c-failed">not ready</em>}
        </span>
      </div>
    </div>
  );
}

interface CellProps extends Panel {
  readonly filter: string;
  readonly class?: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A cell of the bar. A click filters the tree, and another click removes the filter. */
function Cell({ page, reading, filter, class: name = '', title, children }: CellProps) {
  const isFilterActive = page.location.value.query === filter;
  const onClick = () => {
    filterBy(page, isFilterActive ? '' : filter);
    reading.narrowTab.value = 'actors';
  };
  return (
    <button
      type="button"
      class={name}
      aria-pressed={isFilterActive}
      title={isFilterActive ? 'Show all actors' : title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

const PHASE_TONES: ReadonlyMap<string, string> = new Map([
  ['Running', 'steady'],
  ['Pending', 'waiting'],
  ['Succeeded', 'done'],
  ['Failed', 'failed'],
]);

function Pods(panel: Panel) {
  const { value: world } = panel.page.world;
  const phases = countPodsByPhase(world);
  let from = 0;
  const widths = phases.map(({ value, count }) => {
    const width = (48 * count) / Math.max(1, world.pods.size);
    from += width;
    return { of: value, from: from - width, width: Math.max(1, width - 1) };
  });
  return (
    <Cell {...panel} class="cell" filter={CELL_FILTERS.pods} title="Show the pods">
      <span class="l">{world.pods.size} pods</span>
      <span class="v">
        <svg class="phase w3" viewBox="0 0 48 6" preserveAspectRatio="none" aria-hidden="true">
          {widths.map(({ of, from: x, width }) => (
            <rect
              key={of}
              class={`c-${PHASE_TONES.get(of) ?? 'broken'}`}
              x={x}
              width={width}
              height="6"
              fill="currentColor"
            />
          ))}
        </svg>
        {phases.length === 0 && <em>none</em>}
        {phases.map(({ value, count }) => (
          <span key={value} class={value === 'Failed' ? 'c-failed' : value === 'Succeeded' ? 'w3' : ''}>
            {count} <em>{value}</em>
          </span>
        ))}
      </span>
    </Cell>
  );
}

function Containers(panel: Panel) {
  const categories = countContainersByCategory(panel.page.world.value);
  const total = categories.reduce((sum, { count }) => sum + count, 0);
  return (
    <div class="cell">
      <Cell {...panel} class="l" filter={CELL_FILTERS.containers} title="Show the containers">
        {total} containers
      </Cell>
      <span class="v">
        {categories.length === 0 && <em>none</em>}
        {categories.map(({ value, count }) => (
          <Cell
            key={value}
            {...panel}
            class="n"
            filter={containerFilter(value)}
            title={`Show the containers that are ${value}`}
          >
            <CategoryIcon category={value} />
            <span class="sr">{value} </span>
            {count}
          </Cell>
        ))}
      </span>
    </div>
  );
}

/** Maximum number of slots that are drawn. Above it, only numbers are shown. */
const MAX_DRAWN_SLOTS = 8;

interface GateProps extends Panel {
  readonly name: 'start' | 'pull';
  readonly gate: ShownGate;
}

function Gate({ name, gate: { held, waiting, ...gate }, ...panel }: GateProps) {
  // JSON has no infinity, so an unlimited capacity is null.
  const capacity = Number.isFinite(gate.capacity) ? gate.capacity : Number.POSITIVE_INFINITY;
  const canDrawSlots = capacity <= MAX_DRAWN_SLOTS;
  const slots = Array.from({ length: canDrawSlots ? capacity : 0 }, (_, at) => at < held);
  const title = `${name === 'start' ? 'Start' : 'Pull'} gate`;
  return (
    <Cell
      {...panel}
      class={name === 'pull' ? 'cell w3' : 'cell'}
      filter={CELL_FILTERS[name]}
      title={`Show who waits for a ${name} slot`}
    >
      <span class="l">{title}</span>
      <span class="v">
        <span
          class="slots"
          role="img"
          aria-label={Number.isFinite(capacity) ? `${held} of ${capacity} held` : `${held} held, without a bound`}
        >
          {slots.map((isHeld, at) => (
            <i key={at} class={isHeld ? '' : 'q'} />
          ))}
          {!canDrawSlots && (Number.isFinite(capacity) ? `${held}/${capacity}` : held)}
        </span>
        <span>
          {waiting > 0 ? (
            <>
              {waiting} <em>wait</em>
            </>
          ) : (
            <em>{held < capacity ? 'free' : 'full'}</em>
          )}
        </span>
      </span>
    </Cell>
  );
}

function Loop(panel: Panel) {
  const { loop } = panel.page.world.value.node;
  if (!loop) return null;
  return (
    <Cell {...panel} class="cell w3" filter={CELL_FILTERS.loop} title="Show what changed within a minute">
      <span class="l">Event loop, p99</span>
      <span class="v">
        <span>
          {loop.recentMs.length === 0
            ? '–'
            : loop.p99Ms < 10
              ? `${loop.p99Ms.toFixed(1)}ms`
              : formatShortDuration(loop.p99Ms)}
        </span>
        <Spark values={loop.recentMs} />
      </span>
    </Cell>
  );
}

function Tools({ reading }: Panel) {
  const otherTheme = isDark.value ? 'Light' : 'Dark';
  return (
    <div class="tools">
      <button
        type="button"
        class="tool"
        aria-label={`${otherTheme} colours`}
        title={`${otherTheme} colours (t)`}
        onClick={toggleTheme}
      >
        <Glyph of={isDark.value ? 'sun' : 'moon'} />
      </button>
      <button
        type="button"
        class="tool"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => {
          reading.areKeysShown.value = true;
        }}
      >
        <Glyph of="keys" />
      </button>
    </div>
  );
}
