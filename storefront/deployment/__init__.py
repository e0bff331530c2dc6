"""All shops of the deployment, for its operator: how they do, what they use and may use, opening and closing them.

Threats. The pages are for the operator alone: to everybody else they are a 404, like addresses that do not exist.
Nothing here shows a shopper: counts, names of apps and topics, times, and kinds of errors, never whom an order or a
mail is of. What is opened, closed or allowed is in the audit log of the shop that it is about.

May import the rooms whose rows it counts. Checkout shows a shop what it has used.
"""
