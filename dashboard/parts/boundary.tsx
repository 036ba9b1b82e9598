import { Component, type ComponentChildren } from 'preact';
import { Problem } from './problem.js';

type Props = { readonly children: ComponentChildren };
type State = { readonly error: unknown };

/** A view that cannot be drawn says so, and leaves the rest of the page alone. */
export class Boundary extends Component<Props, State> {
  override state: State = { error: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render({ children }: Props, { error }: State): ComponentChildren {
    return error === null ? children : <Problem error={error} retry={() => this.setState({ error: null })} />;
  }
}
