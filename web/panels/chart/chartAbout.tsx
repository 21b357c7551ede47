/** A state with its description, its transitions and the Kubernetes rule that it implements. */
import type { Drawing, DrawnState, FoldedState } from '../../../inspect/protocol.ts';
import { findCategory } from '../../../show/category.ts';
import { transitionsFrom } from '../../model/chart/text.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import { Glyph } from '../../parts/glyph.tsx';

interface AboutProps {
  readonly drawing: Drawing;
  readonly state: DrawnState;
  /** The active state, if it is folded into this box. */
  readonly active: string | undefined;
  readonly onClose: () => void;
}

/** The descriptions of a state or of all states folded into a box. */
export function ChartAbout({ drawing, state, active, onClose }: AboutProps) {
  const foldedStates = state.foldedStates ?? [];
  return (
    <section class="about" aria-label={`About ${state.label}`}>
      <header>
        <Title state={state} />
        <button type="button" class="mini" aria-label="Close" onClick={onClose}>
          <Glyph of="close" />
        </button>
      </header>
      {foldedStates.length > 0 ? (
        foldedStates.map((each) => (
          <section key={each.state} class={each.state === active ? 'held active' : 'held'}>
            <Title state={each} />
            <StateDescription state={each} drawing={drawing} />
          </section>
        ))
      ) : (
        <StateDescription state={state} drawing={drawing} />
      )}
    </section>
  );
}

function Title({ state: { label, tag } }: { readonly state: FoldedState }) {
  const category = findCategory(tag === undefined ? [] : [tag]);
  return (
    <h3>
      {category && <CategoryIcon category={category} />}
      <b>{label}</b>
      {category && <small>{category}</small>}
    </h3>
  );
}

function StateDescription({ state, drawing }: { readonly state: FoldedState; readonly drawing: Drawing }) {
  const { waitsFor, description, rules = [] } = state;
  const transitions = transitionsFrom(drawing, state.state);
  return (
    <>
      {description !== undefined && <p>{description}</p>}
      {waitsFor !== undefined && <p>Waits for {waitsFor}.</p>}
      {transitions.length > 0 && (
        <ul>
          {transitions.map(({ label, to }) => (
            <li key={`${label} ${to}`}>
              <code>{label}</code> → <b>{to}</b>
            </li>
          ))}
        </ul>
      )}
      {drawing.rules
        .filter(({ rule }) => rules.includes(rule))
        .map(({ rule, title, text }) => (
          <details key={rule} open={rules.length === 1}>
            <summary>
              <small>Kubernetes {rule}</small> {title}
            </summary>
            <p>{text}</p>
          </details>
        ))}
    </>
  );
}
