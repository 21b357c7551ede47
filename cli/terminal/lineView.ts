import { systemClock } from '../../base/clock.ts';
import { printableQuoted } from '../../base/printable.ts';
import { isoTime } from '../../kubernetes/api/rfc3339.ts';
import { textLine } from '../../node/log/textLog.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { changeSentences, type ToldPod } from './table/changes.ts';

/** Prints each change as a line in the format of the agent's log, so that an output that has both has one format. */
export function lineView(output: Output, format: 'text' | 'json'): LiveView {
  let base: { readonly simulated?: true } = {};
  const printLine = (msg: string) => {
    const record = JSON.stringify({ level: 'info', time: isoTime(systemClock.now()), ...base, msg });
    output.write(format === 'json' ? `${printableQuoted(record)}\n` : textLine(record));
  };
  let end = () => {};
  return {
    print: (text) => {
      for (const line of text.trimEnd().split('\n')) printLine(line);
    },
    follow(agent) {
      const sentences = changeSentences();
      if (agent.node().simulated) base = { simulated: true };
      const report = (change: ToldPod) => {
        for (const sentence of sentences(change, systemClock.now())) printLine(sentence);
      };
      for (const seen of livePods(agent)) report({ uid: seen.pod.metadata.uid, ...seen, removed: false });
      const unsubscribe = agent.subscribe(report);
      const stopAnnouncing = announceReady(agent, printLine);
      end = () => {
        stopAnnouncing();
        unsubscribe();
      };
    },
    showPage: (url) => printLine(`look at ${base.simulated ? 'the simulated node' : 'it'} on ${url}`),
    close: () => end(),
  };
}
