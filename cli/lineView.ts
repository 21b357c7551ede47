import { systemClock } from '../actors/clock.ts';
import { printableLine } from '../pod/show/printable.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { changeSentences, type ToldPod } from './table/changes.ts';

/** One line a change. */
export function lineView(output: Output): LiveView {
  const print = (line: string) => output.write(`${line}\n`);
  const tellSafely = (line: string) => print(printableLine(line));
  let end = () => {};
  return {
    print,
    follow(agent) {
      const sentences = changeSentences();
      const label = agent.node().simulated ? '[simulated] ' : '';
      const tell = (change: ToldPod) => {
        const now = systemClock.now();
        const time = new Date(now).toISOString().slice(11, 19);
        for (const sentence of sentences(change, now)) tellSafely(`${time}Z ${label}${sentence}`);
      };
      for (const seen of livePods(agent)) tell({ uid: seen.pod.metadata.uid, ...seen, removed: false });
      const unsubscribe = agent.subscribe(tell);
      const stopAnnouncing = announceReady(agent, tellSafely);
      end = () => {
        stopAnnouncing();
        unsubscribe();
      };
    },
    close: () => end(),
  };
}
