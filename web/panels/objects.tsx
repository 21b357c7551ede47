import { useEffect } from 'preact/hooks';
import type { Subject } from '../model/headline.ts';
import { readObject } from '../model/reading.ts';
import { Conditions } from './conditions.tsx';
import { Loading } from './loading.tsx';
import { ObjectText } from './objectText.tsx';
import type { Panel } from './panel.ts';
import { Trouble } from './trouble.tsx';

interface ObjectsProps extends Panel {
  readonly subject: Subject;
  readonly isWhole?: boolean;
}

/** The manifest, and on the pod page the conditions and the status beside it. */
export function Objects({ page, reading, subject, isWhole = false }: ObjectsProps) {
  const uid = subject.pod?.uid;
  const past = page.past.value?.at;
  useEffect(() => {
    if (uid !== undefined) void readObject(page, reading, uid);
  }, [uid, past]);
  if (uid === undefined) return <p class="sec dim">Only pods have a manifest.</p>;
  const { value: object } = reading.object;
  if (object?.uid !== uid) return <Loading />;
  if (object.trouble !== undefined) {
    const again = () => void readObject(page, reading, uid, true);
    return <Trouble what="Its manifest could not be read" cause={object.trouble} again={again} />;
  }
  if (!object.shown) return <Loading />;
  const { manifest, status } = object.shown;
  return (
    <>
      {isWhole && <Conditions status={status} />}
      <ObjectText title="Manifest" object={manifest} />
      {isWhole && <ObjectText title="Status" object={status} />}
    </>
  );
}
