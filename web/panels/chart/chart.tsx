/** The chart of the selected actor with its active state, past transitions and next transition. */
import { useComputed, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Drawing, ShownActor } from '../../../inspect/protocol.ts';
import { CALL_KIND, NODE_API_ID } from '../../../show/actors/actorNode.ts';
import { type Chart as ChartModel, createChart, resetChart } from '../../model/chart/chart.ts';
import { createDrawings, drawingKey, MACHINES_WITH_CHART, shownDrawing } from '../../model/chart/drawings.ts';
import { chartTitle, exitLines } from '../../model/chart/text.ts';
import { activeStates, boxOf, type ChartActor } from '../../model/chart/view.ts';
import { detailOf } from '../../model/details/detail.ts';
import { select } from '../../model/navigation/actions.ts';
import { registerKeys } from '../../model/navigation/keys.ts';
import type { Page } from '../../model/page.ts';
import { rowOfTransition, transitionBetween } from '../../model/story/rows/storyPointing.ts';
import { highlightOf } from '../../model/story/storyState.ts';
import type { StoryPanel } from '../story/storyPanel.ts';
import { ChartAbout } from './chartAbout.tsx';
import { ChartCanvas } from './chartCanvas.tsx';
import { ChartTools, chartKeys } from './chartTools.tsx';
import './chart.css';

export function Chart(panel: StoryPanel) {
  const { page } = panel;
  const drawings = useMemo(() => createDrawings(page.client), [page]);
  const chart = useMemo(createChart, []);
  const actor = useComputed(() => {
    const path = page.selectedPath.value;
    const lastActor = page.lastKnown.value?.actor;
    return (
      (path === undefined ? undefined : page.world.value.actors.get(path)) ??
      (lastActor?.path === path ? lastActor : undefined)
    );
  }).value;
  const actorWithChart = actor !== undefined && MACHINES_WITH_CHART.includes(actor.machine) ? actor : undefined;
  const visibleDrawing =
    actorWithChart && shownDrawing(drawings.loaded.value, actorWithChart, page.location.value.view);
  const { drawing, error, machine, region } = visibleDrawing ?? {};
  useEffect(() => {
    if (machine !== undefined && error === undefined) drawings.load(machine, region);
  }, [drawings, machine, region, error]);
  const key = machine === undefined ? undefined : drawingKey(machine, region);
  useEffect(() => resetChart(chart), [chart, key]);
  useEffect(() => registerKeys(page, chartKeys(page, chart, drawing)), [page, chart, drawing]);
  return (
    <section class="chart" aria-label="Chart">
      <div class="ph">
        <h2>Chart</h2>
        {drawing && <span class="dim">{chartTitle(drawing)}</span>}
        {drawing && (
          <ChartTools page={page} chart={chart} drawing={drawing} hasRegions={visibleDrawing?.hasRegions === true} />
        )}
      </div>
      {drawing && actorWithChart && <ChartPicture {...panel} chart={chart} drawing={drawing} actor={actorWithChart} />}
      {machine !== undefined && error !== undefined && (
        <Trouble text={error} onRetry={() => drawings.load(machine, region)} />
      )}
      {actor && !actorWithChart && <NoChart page={page} actor={actor} />}
    </section>
  );
}

interface ChartPictureProps extends StoryPanel {
  readonly chart: ChartModel;
  readonly drawing: Drawing;
  readonly actor: ShownActor;
}

/** The drawing with its footer and the description of a state. */
function ChartPicture({ page, storyState, view, chart, drawing, actor }: ChartPictureProps) {
  useSignalEffect(() => {
    chart.hoveredElement.value = transitionBetween(drawing, actor.path, storyState.highlight.value);
  });
  const onPoint = (transition: string | undefined) => {
    const line =
      transition === undefined
        ? undefined
        : rowOfTransition(drawing, actor.path, transition, view.visibleBurst.peek()?.rows ?? []);
    storyState.highlight.value = line && highlightOf(line);
  };
  const chartActor = toChartActor(page, actor);
  const active = activeStates(chartActor.state);
  const describedState = drawing.states.find(({ state }) => state === chart.describedState.value);
  const box = active.map((state) => boxOf(drawing, state)).find(Boolean);
  const isWaitInBox = box !== undefined && box.height > 40;
  const isDeleted = !page.world.value.actors.has(actor.path);
  return (
    <div class={`canvas${isDeleted ? ' gone' : ''}`}>
      <ChartCanvas
        chart={chart}
        drawing={drawing}
        chartActor={chartActor}
        onPoint={onPoint}
        label={`Chart of ${actor.kind} ${actor.name}: ${chartTitle(drawing)}`}
      />
      <Footer waits={isWaitInBox ? undefined : chartActor.waitingFor} exits={exitLines(drawing, active)} />
      {describedState && (
        <ChartAbout
          drawing={drawing}
          state={describedState}
          active={active.find((state) => describedState.foldedStates?.some((folded) => folded.state === state))}
          onClose={() => {
            chart.describedState.value = undefined;
          }}
        />
      )}
    </div>
  );
}

function toChartActor(page: Page, actor: ShownActor): ChartActor {
  const { state, tags, since, until, waitingFor } = actor;
  const detail = detailOf(page, actor);
  return { state, tags, since, until, waitingFor, taken: detail?.taken, next: detail?.next, now: page.now.value };
}

const MAX_EXITS = 4;

/** The wait of the active state, if its box has no room for it, and the transitions that leave the drawing. */
function Footer({ waits, exits }: { readonly waits: string | undefined; readonly exits: readonly string[] }) {
  if (waits === undefined && exits.length === 0) return null;
  const hiddenCount = exits.length - MAX_EXITS;
  return (
    <p class="foot" title={exits.join('\n')}>
      {waits !== undefined && <b>waits for {waits}</b>}
      {exits.slice(0, MAX_EXITS).map((exit) => (
        <span key={exit}>{exit}</span>
      ))}
      {hiddenCount > 0 && <span>and {hiddenCount} more</span>}
    </p>
  );
}

function Trouble({ text, onRetry }: { readonly text: string; readonly onRetry: () => void }) {
  return (
    <div class="said" role="alert">
      <p>The chart could not be fetched: {text}</p>
      <button type="button" class="btn" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

/** The text that is shown for a call in flight or a feed, because neither has a chart. */
function NoChart({ page, actor }: { readonly page: Page; readonly actor: ShownActor }) {
  const explanation =
    actor.kind === CALL_KIND
      ? 'is a call in flight'
      : actor.machine === NODE_API_ID
        ? "belongs to the node's own API and is described here"
        : 'is a feed of facts from outside the node';
  const parent = actor.parent === undefined ? undefined : page.world.value.actors.get(actor.parent);
  return (
    <div class="said">
      <p>
        {actor.name} {explanation}, and has no states of its own.
      </p>
      {parent && (
        <button type="button" class="btn" onClick={() => select(page, parent.path)}>
          Show {parent.kind === parent.name ? '' : parent.kind} {parent.name}
        </button>
      )}
    </div>
  );
}
