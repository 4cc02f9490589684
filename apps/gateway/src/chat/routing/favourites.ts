import type { CallIdentity, Target } from '@weir/kernel';

/** Conversations that are remembered. */
const MOST = 10_000;

/** Where each conversation was answered last: a provider's prompt cache is warm there. The oldest are forgotten. */
export class Favourites {
  private readonly byConversation = new Map<string, Target>();

  constructor(private readonly most = MOST) {}

  of(call: CallIdentity): Target | undefined {
    const key = keyOf(call);
    return key === undefined ? undefined : this.byConversation.get(key);
  }

  remember(call: CallIdentity, target: Target): void {
    const key = keyOf(call);
    if (key === undefined) return;
    this.byConversation.delete(key);
    this.byConversation.set(key, target);
    if (this.byConversation.size <= this.most) return;
    for (const oldest of this.byConversation.keys()) {
      this.byConversation.delete(oldest);
      return;
    }
  }
}

function keyOf({ team, model, conversation }: CallIdentity): string | undefined {
  return conversation === undefined ? undefined : JSON.stringify([team, model, conversation]);
}
