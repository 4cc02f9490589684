import { Conversations, type Speaker } from './conversations.js';

class Someone implements Speaker {
  left = false;
  spoke = false;

  speak(): void {
    this.spoke = true;
  }
}

function leave(conversations: Conversations, someone: Someone): void {
  someone.left = true;
  conversations.leave('x', someone);
}

describe('a conversation whose first request takes long', () => {
  it('does not remember the thousands who gave up behind it', () => {
    const conversations = new Conversations();
    const first = new Someone();
    conversations.join('x', first);
    const patient = Array.from({ length: 10 }, () => new Someone());
    for (const one of patient) {
      conversations.join('x', one);
      for (let n = 0; n < 1_000; n += 1) {
        const hasty = new Someone();
        conversations.join('x', hasty);
        leave(conversations, hasty);
        expect(conversations.kept('x')).toBeLessThan(100);
      }
    }
    for (const [index, one] of [first, ...patient].entries()) {
      expect(patient.filter(({ spoke }) => spoke)).toHaveLength(index);
      leave(conversations, one);
    }
    expect(conversations.size).toBe(0);
  });
});
