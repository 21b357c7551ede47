/** The rail at the bottom with the whole recording, the displayed time and the time controls. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { registerKeys } from '../../model/navigation/keys.ts';
import { stepTo } from '../../model/rail/timeNavigation.ts';
import { cycleSpeed, returnToLive, storyKeys, togglePlayback } from '../../model/story/storyKeys.ts';
import { nameOf } from '../../model/story/storyWho.ts';
import { Glyph } from '../../parts/glyph.tsx';
import type { StoryPanel } from '../story/storyPanel.ts';
import { Clock } from './railClock.tsx';
import { Track } from './railTrack.tsx';
import './rail.css';

export function Rail(panel: StoryPanel) {
  const { page, storyState, player } = panel;
  const isTyping = useSignal(false);
  useEffect(() => {
    const openTimeField = () => {
      isTyping.value = true;
    };
    return registerKeys(page, storyKeys({ page, storyState, player, openTimeField }));
  }, []);
  const isPast = page.past.value !== undefined && page.mode === 'live';
  return (
    <section class={isPast ? 'rail is-past' : 'rail'} aria-label="Time">
      <div class="trans">
        <TimeButtons {...panel} />
        <Clock {...panel} isTyping={isTyping} />
      </div>
      <Track {...panel} />
      {page.mode === 'live' && (
        <div class="golive">
          <LiveButton {...panel} isPast={isPast} />
        </div>
      )}
    </section>
  );
}

function TimeButtons(panel: StoryPanel) {
  const { page, storyState, player } = panel;
  const name = nameOf(page.selectedPath.value ?? '');
  const step = (by: 'event' | 'change', isForward: boolean) => () => {
    player.stop();
    void stepTo(page, storyState, by, isForward);
  };
  return (
    <>
      <Tool label={`Previous change of ${name}`} hint="[" glyph="firstBack" onClick={step('change', false)} />
      <Tool label="One event back" hint="," glyph="earlier" onClick={step('event', false)} />
      <FreezeOrPlayButton {...panel} />
      <Tool label="One event on" hint="." glyph="later" onClick={step('event', true)} />
      <Tool label={`Next change of ${name}`} hint="]" glyph="lastOn" onClick={step('change', true)} />
      {(page.past.value || player.speed.value) && (
        <button type="button" class="tool speed" title="How fast it is played" onClick={() => cycleSpeed(page, player)}>
          {player.speed.value ?? 1}×
        </button>
      )}
    </>
  );
}

function FreezeOrPlayButton({ page, player }: StoryPanel) {
  const isPlaying = player.speed.value !== undefined;
  const isStopped = page.past.value !== undefined || page.frozen.value !== undefined;
  const isFrozen = page.frozen.value !== undefined && page.past.value === undefined;
  const label = isPlaying ? 'Stop' : isFrozen ? 'Let it go on' : isStopped ? 'Play' : 'Hold the picture';
  const isPlay = isStopped && !isPlaying;
  return (
    <Tool label={label} hint="Space" glyph={isPlay ? 'play' : 'pause'} onClick={() => togglePlayback(page, player)} />
  );
}

interface ToolProps {
  readonly label: string;
  readonly hint: string;
  readonly glyph: Parameters<typeof Glyph>[0]['of'];
  readonly onClick: () => void;
}

const Tool = ({ label, hint, glyph, onClick }: ToolProps) => (
  <button type="button" class="tool" aria-label={label} title={`${label} (${hint})`} onClick={onClick}>
    <Glyph of={glyph} />
  </button>
);

function LiveButton({ page, player, isPast }: StoryPanel & { readonly isPast: boolean }) {
  const isLost = page.connection.value.kind === 'lost';
  const isFrozen = page.frozen.value !== undefined;
  if (!isPast && !isFrozen)
    return (
      <button
        type="button"
        class={isLost ? 'live is-lost' : 'live'}
        aria-pressed={true}
        title="It goes on as it happens"
      >
        <i />
        {isLost ? 'Lost' : 'Live'}
      </button>
    );
  return (
    <button type="button" class="live go" title="Back to what goes on (l)" onClick={() => returnToLive(page, player)}>
      Go live
    </button>
  );
}
