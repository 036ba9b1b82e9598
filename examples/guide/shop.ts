/** What an application has of its own: a payment service somewhere else, and prices. */
type Charge = { readonly id: string; readonly cents: number };

const charges = new Map<string, Charge>();

export const payments = {
  async charge({ cents }: { orderId: string; cents: number }, key: string): Promise<Charge> {
    if (charges.has(key)) throw new Error('charged twice');
    const made = { id: `ch_${cents}`, cents };
    charges.set(key, made);
    return made;
  },
  async find(key: string): Promise<Charge | null> {
    return charges.get(key) ?? null;
  },
};

export const quoteFor = (order: { id: string }): { cents: number } => ({ cents: 100 * order.id.length });
